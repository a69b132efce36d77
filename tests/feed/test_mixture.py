"""Mixtures follow their weights, change them at steps, and go on where each source was."""

from __future__ import annotations

import json

import numpy as np
import pytest

from raydata_ext.errors import StateError
from raydata_ext.feed import StreamingCoordinator, mix
from raydata_ext.feed.feed_state import Position, load_position, save_position
from raydata_ext.feed.order_tracker import OrderTracker
from raydata_ext.feed.plan import FeedPlan
from raydata_ext.feed.rank_batches import rank_batches
from raydata_ext.feed.share import Share

BATCH = 24


@pytest.fixture
def sources(numbered):
    return {
        "a": numbered([200, 100], 1, 20),
        "b": numbered([40], 2, 5, first=1000),
        "c": numbered([60, 30], 3, 10, first=2000),
    }


STAGES = [(0, {"a": 3, "b": 1}), (30, {"a": 1, "b": 1, "c": 2}), (50, {"b": 1})]


def rows_of(stream, first, stop, world_size=2, mark=None, num_lanes=4):
    """Rows of some steps, in the order of their positions."""
    plan = FeedPlan.of(stream, global_batch_size=BATCH, num_lanes=num_lanes)
    found = {}
    for rank in range(world_size):
        for batch in rank_batches(
            plan.epoch(0), Share(rank, world_size, num_lanes, BATCH), first_step=first, mark=mark
        ):
            if batch.step == stop:
                break
            found |= dict(zip(batch.positions.tolist(), batch.rows.column("x").to_pylist(), strict=True))
    return [found[position] for position in range(first * BATCH, stop * BATCH)]


def source_numbers(rows):
    return (np.array(rows) // 1000).tolist()


def test_weights_change_at_the_step_of_their_stage(sources):
    rows = source_numbers(rows_of(mix(sources, STAGES, seed=7), 0, 60))
    assert set(rows[: 30 * BATCH]) == {0, 1}
    assert set(rows[30 * BATCH : 50 * BATCH]) == {0, 1, 2}
    assert set(rows[50 * BATCH :]) == {1}
    assert rows[: 30 * BATCH].count(0) / (30 * BATCH) == pytest.approx(0.75, abs=0.05)
    assert rows[30 * BATCH : 50 * BATCH].count(2) / (20 * BATCH) == pytest.approx(0.5, abs=0.07)


def test_a_later_stage_changes_nothing_before_it(sources):
    with_it, without = mix(sources, STAGES, seed=7), mix(sources, STAGES[:1], seed=7)
    assert rows_of(with_it, 0, 30) == rows_of(without, 0, 30)


def test_each_source_gives_every_row_once_before_it_gives_one_again(sources):
    rows = rows_of(mix(sources, STAGES, seed=7), 0, 60, num_lanes=1, world_size=1)
    for low, size in ((0, 300), (1000, 40), (2000, 90)):
        own = [row for row in rows if low <= row < low + 1000]
        for start in range(0, len(own) - size + 1, size):
            assert sorted(own[start : start + size]) == list(range(low, low + size))


@pytest.mark.parametrize("step", [1, 29, 30, 31, 50, 57])
def test_a_mixture_goes_on_with_any_number_of_ranks(sources, step):
    plan = FeedPlan.of(mix(sources, STAGES, seed=7), global_batch_size=BATCH, num_lanes=4)
    tracker = OrderTracker(plan)
    state = save_position(tracker.order(0), Position(0, step, tracker.mark(0, step)))
    position = load_position(plan, json.loads(json.dumps(state)))
    stream = mix(sources, STAGES, seed=7)
    assert rows_of(stream, step, 60, 3, position.mark) == rows_of(stream, 0, 60)[step * BATCH :]


def test_sources_and_stages_to_come_may_be_added_when_a_run_goes_on(sources, numbered):
    old = FeedPlan.of(mix(sources, STAGES[:2], seed=7), global_batch_size=BATCH, num_lanes=4)
    tracker = OrderTracker(old)
    state = json.loads(json.dumps(save_position(tracker.order(0), Position(0, 40, tracker.mark(0, 40)))))
    more = {**sources, "d": numbered([500], 4, 10, first=3000)}
    stream = mix(more, [*STAGES[:2], (45, {"a": 1, "d": 1})], seed=7)
    plan = FeedPlan.of(stream, global_batch_size=BATCH, num_lanes=4)
    rows = rows_of(stream, 40, 55, 2, load_position(plan, state).mark)
    assert rows[: 5 * BATCH] == rows_of(mix(sources, STAGES[:2], seed=7), 0, 45)[40 * BATCH :]
    assert set(source_numbers(rows[5 * BATCH :])) == {0, 3}
    changed = mix(sources, [STAGES[0], (35, STAGES[1][1])], seed=7)
    with pytest.raises(StateError, match="only stages from step 40 on may be changed"):
        load_position(FeedPlan.of(changed, global_batch_size=BATCH, num_lanes=4), state)


def test_the_status_says_rows_epochs_and_shares_of_the_sources(ray_session, sources):
    coordinator = StreamingCoordinator.create(mix(sources, STAGES, seed=7), global_batch_size=BATCH, num_lanes=4)
    feed, rows = coordinator.feed(0, 1), []
    for batch in feed:
        rows += batch["x"]
        if batch.step == 44:
            break
    status = coordinator.status()
    numbers = source_numbers(rows)
    assert {name: source["rows"] for name, source in status["sources"].items()} == {
        name: numbers.count(i) for i, name in enumerate("abc")
    }
    assert sum(source["share"] for source in status["sources"].values()) == pytest.approx(1)
    assert status["sources"]["b"]["epochs"] >= 5
    assert status["steps"] is None
    coordinator.shutdown()


def test_stages_and_weights_that_make_no_sense_are_refused(sources):
    for stages in ([], [(1, {"a": 1})], [(0, {"a": 1}), (0, {"b": 1})]):
        with pytest.raises(ValueError, match="must start at 0 and ascend"):
            mix(sources, stages, seed=1)
    with pytest.raises(ValueError, match=r"weights name \['x'\]"):
        mix(sources, [(0, {"x": 1})], seed=1)
    with pytest.raises(ValueError, match="one at least must be above 0"):
        mix(sources, [(0, {"a": 0})], seed=1)
    with pytest.raises(ValueError, match="seed is -1"):
        mix(sources, [(0, {"a": 1})], seed=-1)
