"""Which streams are cut into lanes, and that a state leads to the same rows whatever the stream is."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from raydata_ext.feed import mix
from raydata_ext.feed.feed_state import Position, load_position, save_position
from raydata_ext.feed.order_tracker import OrderTracker
from raydata_ext.feed.plan import FeedPlan
from raydata_ext.feed.rank_batches import rank_batches
from raydata_ext.feed.rank_rows import RankRows
from raydata_ext.feed.share import Share
from raydata_ext.streaming import IterableDataset, concatenate_datasets, interleave_datasets
from raydata_ext.streaming.row_reader import RowReader

BATCH = 6


def double(row):
    return {"double": 2 * row["x"]}


def repeat_rows(batch):
    return {"x": [x for x in batch["x"] for _ in range(x % 3)]}


@pytest.fixture(scope="module")
def streams(numbered):
    """Kind -> (function that makes the stream, number of lanes)."""

    def count(shards):
        for low, high in shards:
            yield from ({"x": x} for x in range(low, high))

    def large(seed=None):
        return numbered([20, 15, 30], seed, 7)

    def small(seed=None):
        return numbered([9, 8], seed, 5, first=100)

    def both():
        return [large(1), small(2)]

    return {
        "tables": (large, 1),
        "tables in lanes": (large, 4),
        "shuffled": (lambda: large(1), 5),
        "shuffled in one lane": (lambda: large(1), 1),
        "mapped": (lambda: large(1).map(double), 4),
        "concatenated": (lambda: concatenate_datasets(both()), 3),
        "concatenated and shuffled": (lambda: concatenate_datasets([large(), small()]).shuffle(4, buffer_size=8), 4),
        "in turn": (lambda: interleave_datasets(both()), 3),
        "by chance": (lambda: interleave_datasets(both(), [0.7, 0.3], seed=1), 3),
        "by chance, all": (
            lambda: interleave_datasets(both(), [0.7, 0.3], seed=1, stopping_strategy="all_exhausted"),
            4,
        ),
        "mapped, then mixed": (
            lambda: interleave_datasets(
                [stream.map(double) for stream in both()], stopping_strategy="all_exhausted_without_replacement"
            ),
            2,
        ),
        "filtered": (lambda: large(1).filter(lambda row: row["x"] % 3 > 0), 1),
        "mapped by batches": (lambda: large(1).map(repeat_rows, batched=True, batch_size=4), 1),
        "taken and repeated": (lambda: large(1).take(20).repeat(2), 1),
        "generator": (
            lambda: IterableDataset.from_generator(count, {"shards": [(0, 20), (20, 47)]}).shuffle(1, buffer_size=9),
            1,
        ),
    }


KINDS = [
    "tables",
    "tables in lanes",
    "shuffled",
    "shuffled in one lane",
    "mapped",
    "concatenated",
    "concatenated and shuffled",
    "in turn",
    "by chance",
    "by chance, all",
    "mapped, then mixed",
    "filtered",
    "mapped by batches",
    "taken and repeated",
    "generator",
]


def plan_of(streams, kind, end="uneven"):
    make, lanes = streams[kind]
    return FeedPlan.of(make(), global_batch_size=BATCH, num_lanes=lanes, end_of_epoch=end)


def received(plan, world_size, position=None):
    """Row of each global position, of all ranks together; and the marks that reading gave, by step."""
    position = position or Position()
    found, marks = {}, {}
    for rank in range(world_size):
        share = Share(rank, world_size, plan.num_lanes, BATCH)
        order = plan.epoch(position.epoch)
        for batch in rank_batches(order, share, first_step=position.step, mark=position.mark):
            rows = [] if batch.rows is None else batch.rows.column("x").to_pylist()
            assert not set(found) & set(batch.positions.tolist())
            found |= dict(zip(batch.positions.tolist(), rows, strict=True))
            if batch.mark is not None:
                marks[batch.step + 1] = batch.mark
    return found, marks


@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_ranks_receives_the_same_rows_at_the_same_positions(streams, kind):
    plan = plan_of(streams, kind)
    whole, _ = received(plan, 1)
    assert list(whole) == list(range(len(whole)))
    for world_size in (2, 3, 6):
        assert received(plan, world_size)[0] == whole
    full = len(whole) // BATCH * BATCH
    assert received(plan_of(streams, kind, "drop"), 2)[0] == {p: whole[p] for p in range(full)}
    padded = {p: whole[p % len(whole)] for p in range(-(-len(whole) // BATCH) * BATCH)}
    assert received(plan_of(streams, kind, "pad"), 2)[0] == padded


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "tables in lanes"])
def test_one_lane_has_the_order_of_the_stream(streams, kind):
    stream = streams[kind][0]()
    plan = FeedPlan.of(stream, global_batch_size=BATCH, num_lanes=1, end_of_epoch="uneven")
    assert list(received(plan, 2)[0].items()) != []
    whole = received(plan, 2)[0]
    assert [whole[position] for position in sorted(whole)] == [row["x"] for row in stream]


@pytest.mark.parametrize("kind", KINDS)
def test_every_step_leads_on_to_the_same_rows_with_a_mark_and_without(streams, kind):
    plan = plan_of(streams, kind)
    whole, read_marks = received(plan, 1)
    tracker = OrderTracker(plan)
    for step in range(-(-len(whole) // BATCH) + 1):
        mark = tracker.mark(0, step) if step and tracker.order(0).indexed else read_marks.get(step)
        state = json.loads(json.dumps(save_position(tracker.order(0), Position(0, step, mark))))
        position = load_position(plan_of(streams, kind), state)
        rest = {p: row for p, row in whole.items() if p >= step * BATCH}
        assert received(plan, 3, position)[0] == rest
        assert received(plan, 2, Position(0, step))[0] == rest


def test_streams_that_are_shuffled_are_cut_into_64_lanes_and_others_into_one(numbered):
    assert FeedPlan.of(numbered([100], 1), global_batch_size=4).num_lanes == 64
    assert FeedPlan.of(numbered([100]), global_batch_size=4).num_lanes == 1
    assert FeedPlan.of(numbered([10, 7], 1), global_batch_size=4).num_lanes == 17
    assert FeedPlan.of(numbered([100], 1).filter(lambda row: row["x"]), global_batch_size=4).num_lanes == 1


def test_a_stream_that_cannot_be_cut_is_told_with_the_remedy_unless_one_lane_is_asked_for(numbered, caplog):
    stream = numbered([100], 1).filter(lambda row: row["x"])
    FeedPlan.of(stream, global_batch_size=4, num_lanes=1)
    FeedPlan.of(numbered([100], 1), global_batch_size=4)
    assert not caplog.records
    FeedPlan.of(stream, global_batch_size=4)
    [record] = caplog.records
    assert "each rank reads all of it" in record.getMessage()
    assert "LazyDataset.collect" in record.getMessage()


def test_a_step_without_rows_for_a_rank_is_delivered_all_the_same(numbered):
    plan = FeedPlan.of(numbered([7]), global_batch_size=6, end_of_epoch="uneven")
    batches = list(rank_batches(plan.epoch(0), Share(1, 2, 1, 6)))
    assert [len(batch.positions) for batch in batches] == [3, 0]


def test_a_rank_reads_only_its_own_rows_and_shards(numbered):
    order = FeedPlan.of(numbered([50] * 16, 1), global_batch_size=16, num_lanes=8).epoch(0)
    reader = RowReader(RankRows(order, Share(1, 4, 8, 16)).open(order.bases))
    references = reader.read(None)
    assert len(references) == 800 / 4
    assert len(set((references // 50).tolist())) == 16 / 4


def test_the_proportions_of_a_mixture_follow_the_weights_of_its_stages(numbered):
    sources = {"a": numbered([500, 300], 1), "b": numbered([40], 2, first=10_000), "c": numbered([60], 3, first=20_000)}
    stages = [(0, {"a": 3, "b": 1}), (100, {"a": 1, "b": 1, "c": 2})]
    plan = FeedPlan.of(mix(sources, stages, seed=5), global_batch_size=32, num_lanes=8)
    rows = collect(plan, 200)
    shares = [[0, 0, 0], [0, 0, 0]]
    for position, row in rows.items():
        shares[position >= 3200][row // 10_000] += 1
    assert shares[0][2] == 0
    assert shares[0][0] / 3200 == pytest.approx(0.75, abs=0.03)
    assert [count / 3200 for count in shares[1]] == pytest.approx([0.25, 0.25, 0.5], abs=0.03)


def collect(plan, steps):
    found = {}
    for rank in range(2):
        for batch in rank_batches(plan.epoch(0), Share(rank, 2, plan.num_lanes, plan.global_batch_size)):
            if batch.step == steps:
                break
            found |= dict(zip(batch.positions.tolist(), batch.rows.column("x").to_pylist(), strict=True))
    return found


def test_rows_of_tables_of_different_columns_are_mixed(numbered):
    other = IterableDataset.from_tables([pa.table({"x": [1000 + i for i in range(30)], "y": ["t"] * 30})])
    plan = FeedPlan.of(interleave_datasets([numbered([30]), other]), global_batch_size=BATCH, num_lanes=2)
    assert len(received(plan, 2)[0]) == 2 * 29 // BATCH * BATCH
