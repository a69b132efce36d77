"""A coordinator and its feeds: one order, whoever takes part, and a state that fits any number of ranks."""

from __future__ import annotations

import json
import pickle
import threading

import numpy as np
import pytest

from raydata_ext.errors import StateError
from raydata_ext.feed import StaleFeedError, StreamingCoordinator, merge_states
from raydata_ext.feed.feed_state import VERSION

SIZES = [30, 7, 0, 25, 41]
SEED, BUFFER, LANES, BATCH = 3, 6, 4, 8
TOTAL = sum(SIZES)
STEPS = TOTAL // BATCH


@pytest.fixture
def create(ray_session, numbered):
    """Make coordinators that end with the test."""
    made = []

    def make(stream=None, **options):
        stream = numbered(SIZES, SEED, BUFFER) if stream is None else stream
        options = {"global_batch_size": BATCH, "num_lanes": LANES, **options}
        made.append(StreamingCoordinator.create(stream, **options))
        return made[-1]

    yield make
    for coordinator in made:
        coordinator.shutdown()


@pytest.fixture(scope="module")
def shared(ray_session, numbered):
    """A coordinator for many tests, and its first state."""
    coordinator = StreamingCoordinator.create(numbered(SIZES, SEED, BUFFER), global_batch_size=BATCH, num_lanes=LANES)
    yield coordinator, coordinator.state_dict()
    coordinator.shutdown()


@pytest.fixture
def coordinator(shared):
    """A coordinator at the begin of the first epoch, without any ranks."""
    found, start = shared
    found.load_state_dict(start)
    return found


@pytest.fixture
def start(shared):
    """The state of a coordinator that has done nothing."""
    return shared[1]


@pytest.fixture
def reference(oracle, shards):
    """The order of the whole run, by epoch."""
    return lambda epoch=0: oracle.global_order(shards(SIZES), SEED, epoch, BUFFER, LANES)


def pairs(batch):
    return list(zip(batch.positions.tolist(), [int(x) for x in batch["x"]], strict=True))


def take(feed, steps):
    """(position, row) of so many steps; the loop is left then."""
    found = []
    for number, batch in enumerate(feed, 1):
        found += pairs(batch)
        if number == steps:
            break
    return found


def run(feeds, steps=None):
    """All ranks, one after the other."""
    return sorted(pair for feed in feeds for pair in take(feed, steps))


def expected(order, first=0, stop=STEPS):
    return list(enumerate(order))[first * BATCH : stop * BATCH]


@pytest.mark.parametrize("world_size", [1, 2, 3, 8])
def test_all_ranks_together_receive_each_epoch_in_the_reference_order(coordinator, reference, world_size):
    feeds = [coordinator.feed(rank, world_size) for rank in range(world_size)]
    assert run(feeds) == expected(reference(0))
    assert [feed.epoch for feed in feeds] == [1] * world_size
    assert run(feeds) == expected(reference(1))


def test_a_run_goes_on_with_any_number_of_ranks_in_new_coordinators(coordinator, create, reference):
    assert run([coordinator.feed(rank, 4) for rank in range(4)], 5) == expected(reference(), 0, 5)
    state = json.loads(json.dumps(coordinator.state_dict()))
    assert (state["epoch"], state["step"]) == (0, 5)
    second = create(state=state)
    assert run([second.feed(rank, 2) for rank in range(2)], 4) == expected(reference(), 5, 9)
    again = json.loads(json.dumps(second.state_dict()))
    coordinator.load_state_dict(again)
    assert run([coordinator.feed(rank, 3) for rank in range(3)]) == expected(reference(), 9)
    assert coordinator.state_dict()["epoch"] == 1


def test_readers_give_the_same_batches_and_state(coordinator, reference):
    whole = coordinator.feed(0, 1, readers=2)
    assert take(whole, 3) == expected(reference(), 0, 3)
    state = whole.state_dict()
    coordinator.load_state_dict(state)
    assert take(coordinator.feed(0, 1, readers=1), None) == expected(reference(), 3)


@pytest.mark.parametrize("steps", [1, STEPS // 2, STEPS - 1, STEPS])
def test_the_states_of_the_ranks_merge_to_that_of_the_run(coordinator, reference, steps):
    feeds = [coordinator.feed(rank, 3) for rank in range(3)]
    run(feeds, steps)
    state = json.loads(json.dumps(merge_states([feed.state_dict() for feed in feeds])))
    coordinator.load_state_dict(state)
    whole = expected(reference(), steps) if steps < STEPS else expected(reference(1))
    assert run([coordinator.feed(rank, 2) for rank in range(2)]) == whole


def test_only_batches_that_were_handed_out_count(coordinator):
    feed = coordinator.feed(0, 1, prefetch=8)
    batches = iter(feed)
    next(batches)
    next(batches)
    assert feed.state_dict()["step"] == 2
    assert coordinator.state_dict()["step"] == 2
    batches.close()


def test_a_state_taken_before_the_first_step_and_right_after_a_restore_is_the_same(coordinator, start):
    feed = coordinator.feed(0, 1)
    assert feed.state_dict() == start
    take(feed, 3)
    state = coordinator.state_dict()
    coordinator.load_state_dict(state)
    assert coordinator.state_dict() == state
    assert coordinator.feed(0, 1).state_dict() == state


def test_a_feed_loads_a_state_itself(coordinator, reference):
    feed = coordinator.feed(0, 1)
    take(feed, 6)
    state = feed.state_dict()
    take(feed, 1)
    feed.load_state_dict(state)
    assert take(feed, None) == expected(reference(), 6)


def test_a_loop_that_was_left_goes_on(coordinator, reference):
    feed = coordinator.feed(0, 1)
    assert take(feed, 3) + take(feed, None) == expected(reference())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"num_lanes": 2}, "num_lanes was 4 and is 2"),
        ({"global_batch_size": 16}, "global_batch_size was 8 and is 16"),
        ({"end_of_epoch": "pad"}, "end_of_epoch was drop and is pad"),
    ],
)
def test_a_state_of_another_feed_is_refused_with_the_reason(create, start, change, reason):
    with pytest.raises(StateError, match=reason):
        create(state=start, **change)


def test_a_state_of_other_data_or_another_seed_is_refused(create, start, numbered):
    with pytest.raises(StateError, match="data was"):
        create(numbered([*SIZES, 1], SEED, BUFFER), state=start)
    with pytest.raises(StateError, match=r"BufferShuffle\.seed was 3 and is 4"):
        create(numbered(SIZES, SEED + 1, BUFFER), state=start)


def test_states_of_different_steps_do_not_merge(coordinator):
    feeds = [coordinator.feed(rank, 2) for rank in range(2)]
    take(feeds[0], 2)
    take(feeds[1], 3)
    with pytest.raises(StateError, match="state 1 is of epoch 0, step 3, state 0 of epoch 0, step 2"):
        merge_states([feed.state_dict() for feed in feeds])


def test_another_world_size_makes_feeds_stale_and_goes_on_at_the_first_step_not_received_by_all(coordinator, reference):
    old = [coordinator.feed(rank, 2) for rank in range(2)]
    take(old[0], 3)
    take(old[1], 2)
    new = [coordinator.feed(rank, 4) for rank in range(4)]
    assert run(new, 2) == expected(reference(), 2, 4)
    with pytest.raises(StaleFeedError, match="rank 0 of 2 is of generation"):
        next(iter(old[0]))
    with pytest.raises(StaleFeedError):
        old[1].state_dict()


def test_a_second_feed_of_a_rank_takes_the_place_of_the_first(coordinator, reference):
    first, other = coordinator.feed(0, 2), coordinator.feed(1, 2)
    head = take(first, 3)
    second = pickle.loads(pickle.dumps(first))
    rest = take(second, None)
    assert sorted(head + rest + take(other, None)) == expected(reference())
    with pytest.raises(StaleFeedError, match="another feed has taken the place"):
        next(iter(first))


def test_a_feed_that_is_replaced_within_a_loop_gets_an_error_before_its_epoch_ends(coordinator):
    first = coordinator.feed(0, 1)
    batches = iter(first)
    next(batches)
    take(coordinator.feed(0, 1), 1)
    with pytest.raises(StaleFeedError):
        list(batches)


def test_loading_a_state_into_a_running_coordinator_makes_its_feeds_stale(coordinator, reference):
    feed = coordinator.feed(0, 1)
    take(feed, 2)
    state = coordinator.state_dict()
    take(feed, 2)
    coordinator.load_state_dict(state)
    with pytest.raises(StaleFeedError):
        take(feed, None)
    assert take(coordinator.feed(0, 1), None) == expected(reference(), 2)


def test_a_rank_that_stops_asking_does_not_stop_the_others(coordinator):
    silent, busy = coordinator.feed(0, 2), coordinator.feed(1, 2)
    take(silent, 1)
    take(busy, None)
    status = coordinator.status()
    assert [(rank["rank"], rank["epoch"], rank["step"]) for rank in status["ranks"]] == [(0, 0, 1), (1, 1, 0)]
    assert status["ranks"][0]["silent_seconds"] >= status["ranks"][1]["silent_seconds"]
    assert (status["epoch"], status["step"], status["steps"], status["missing_ranks"]) == (0, 1, STEPS, [])


def test_padding_is_masked_and_all_ranks_have_equally_many_rows(create, reference):
    coordinator = create(end_of_epoch="pad")
    order = reference()
    rows = []
    for rank in range(2):
        batches = list(coordinator.feed(rank, 2))
        assert {batch.num_rows for batch in batches} == {BATCH // 2}
        for batch in batches:
            mask = np.ones(batch.num_rows, bool) if batch.mask is None else batch.mask
            rows += [pair for pair, real in zip(pairs(batch), mask, strict=True) if real]
    assert sorted(rows) == list(enumerate(order))


def test_batches_come_in_the_format_of_the_stream(create, numbered):
    stream = numbered(SIZES, SEED, BUFFER).map(lambda row: {"twice": row["x"] * 2}).with_format("numpy")
    batch = next(iter(create(stream).feed(0, 1)))
    assert batch["twice"].tolist() == [2 * x for x in batch["x"].tolist()]
    assert isinstance(batch["x"], np.ndarray)
    assert batch.positions.dtype == np.int64


def test_a_resumed_epoch_is_not_lost_by_setting_another(coordinator):
    feed = coordinator.feed(0, 1)
    take(feed, 2)
    coordinator.load_state_dict(feed.state_dict())
    later = coordinator.feed(0, 1)
    later.set_epoch(0)
    with pytest.raises(StateError, match=r"set_epoch\(1\) would lose the rest"):
        later.set_epoch(1)
    take(later, 1)
    later.set_epoch(1)
    assert later.epoch == 1
    with pytest.raises(ValueError, match="epoch is -1"):
        later.set_epoch(-1)


def test_a_state_that_was_loaded_goes_with_the_feed_where_it_is_sent(coordinator, reference):
    feed = coordinator.feed(0, 1)
    take(feed, 4)
    state = feed.state_dict()
    take(feed, 3)
    feed.load_state_dict(state)
    assert take(pickle.loads(pickle.dumps(feed)), None) == expected(reference(), 4)
    later = coordinator.feed(0, 1)
    later.set_epoch(3)
    assert take(pickle.loads(pickle.dumps(later)), None) == expected(reference(3))


def test_a_loop_ends_with_an_error_when_another_begins_or_the_feed_is_moved(coordinator, reference):
    feed = coordinator.feed(0, 1)
    first = iter(feed)
    head = [pair for _ in range(3) for pair in pairs(next(first))]
    second = iter(feed)
    head += pairs(next(second))
    with pytest.raises(StaleFeedError, match="another loop over the feed has begun"):
        next(first)
    state = feed.state_dict()
    head += pairs(next(second))
    assert head == expected(reference(), 0, 5)
    feed.load_state_dict(state)
    with pytest.raises(StaleFeedError, match="load_state_dict has moved it"):
        next(second)
    assert take(feed, None) == expected(reference(), 4)


def test_an_error_in_the_loop_of_the_trainer_ends_its_threads_and_the_next_loop_goes_on(coordinator, reference):
    feed = coordinator.feed(0, 1)
    with pytest.raises(KeyError):
        next(raising for batch in feed for raising in [{}["what the trainer did"]])
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("feed-")]
    assert take(feed, None) == expected(reference(), 1)
    loop = iter(feed)
    next(loop)
    del loop, feed
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("feed-")]


@pytest.mark.parametrize("end", ["drop", "pad", "uneven"])
@pytest.mark.parametrize("rows", [0, 3])
def test_fewer_rows_than_ranks_make_equally_many_steps_on_each_and_that_there_are_none_is_told(
    create, numbered, caplog, end, rows
):
    coordinator = create(numbered([rows], 1), end_of_epoch=end, num_lanes=None)
    batches = [batch for rank in range(5) for batch in coordinator.feed(rank, 5)]
    assert len(batches) == (0 if end == "drop" or rows == 0 else 5)
    assert ("has no steps" in caplog.text) == (not batches)
    found = [x for batch in batches for x in batch["x"]]
    assert len(found) == {"drop": 0, "pad": BATCH if rows else 0, "uneven": rows}[end]
    masks = [batch.mask if batch.mask is not None else np.ones(batch.num_rows, bool) for batch in batches]
    assert (
        sorted(np.array(found)[np.concatenate([*masks, np.empty(0, bool)])].tolist()) == list(range(rows))[: len(found)]
    )
    assert all(batch.positions.dtype == np.int64 for batch in batches)


def test_a_stream_that_is_filtered_goes_on_from_the_state_of_coordinator_and_feed(create, numbered):
    stream = numbered(SIZES, SEED, BUFFER).filter(lambda row: row["x"] % 4 > 0)
    whole = [row["x"] for row in stream]
    coordinator = create(stream, num_lanes=None, end_of_epoch="uneven")
    feeds = [coordinator.feed(rank, 2) for rank in range(2)]
    assert [row for _, row in run(feeds, 4)] == whole[: 4 * BATCH]
    for state in (feeds[1].state_dict(), coordinator.state_dict()):
        assert 0 < state["mark"]["step"] <= state["step"] == 4
        coordinator.load_state_dict(json.loads(json.dumps(state)))
        later = [coordinator.feed(rank, 3) for rank in range(3)]
        assert [row for _, row in run(later)] == whole[4 * BATCH :]
    assert coordinator.state_dict()["epoch"] == 1


def test_epochs_of_different_lengths_do_not_lend_one_another_their_places(create, numbered):
    stream = numbered(SIZES, SEED, BUFFER).take(60).filter(lambda row: row["x"] % 3 > 0)
    wholes = []
    for epoch in range(8):
        stream.set_epoch(epoch)
        wholes.append([row["x"] for row in stream])
    stream.set_epoch(0)
    steps = [len(whole) // BATCH for whole in wholes]
    short = next(epoch for epoch in range(7) if steps[epoch] < steps[epoch + 1])
    coordinator = create(stream, num_lanes=1)
    feed = coordinator.feed(0, 1)
    feed.set_epoch(short)
    assert [row for _, row in take(feed, None)] == wholes[short][: steps[short] * BATCH]
    take(feed, steps[short])
    coordinator.load_state_dict(coordinator.state_dict())
    rest = [row for _, row in take(coordinator.feed(0, 1), None)]
    assert rest == wholes[short + 1][steps[short] * BATCH : steps[short + 1] * BATCH]


def test_a_coordinator_is_found_by_name(create):
    made = create(name="by-name")
    found = StreamingCoordinator.attach("by-name")
    take(found.feed(0, 1), 2)
    assert made.state_dict()["step"] == 2


def test_arguments_out_of_range_are_refused(create, coordinator, numbered):
    with pytest.raises(ValueError, match="global_batch_size is 0"):
        create(global_batch_size=0)
    with pytest.raises(ValueError, match="counts, makes or leaves out rows"):
        create(numbered(SIZES).filter(lambda row: row["x"] > 3))
    with pytest.raises(ValueError, match="world_size is 9, but a global batch has 8 rows"):
        coordinator.feed(0, 9)
    with pytest.raises(ValueError, match="a detached coordinator needs a name"):
        create(detached=True)
    for name in ("", "f\xfctterung", "a\nb"):
        with pytest.raises(ValueError, match="it must be printable ASCII"):
            create(name=name)
    with pytest.raises(StateError, match="the state has version 1; this release reads"):
        create(state={"version": 1})
    with pytest.raises(StateError, match=r"lacks \['binding'"):
        create(state={"version": VERSION})
