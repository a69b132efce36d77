"""A rank reads about the W-th part of the rows, and of the shards where it has lanes of its own."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.feed.plan import FeedPlan
from raydata_ext.feed.rank_batches import rank_batches
from raydata_ext.feed.rank_reads import TouchedShards
from raydata_ext.feed.share import Share
from raydata_ext.streaming import IterableDataset

ROW_BYTES = 8


def reads(plan, rank, world_size):
    """(bytes read, shards read from) of a rank in an epoch."""
    share = Share(rank, world_size, plan.num_lanes, plan.global_batch_size)
    work = [batch.work for batch in rank_batches(plan.epoch(0), share)]
    shards = [shard for batch in work for shard in batch.shards_read]
    assert len(set(shards)) == len(shards)
    return sum(batch.bytes_read for batch in work), set(shards)


@settings(max_examples=40, deadline=None)
@given(
    shards=st.integers(1, 40),
    rows=st.integers(20, 60),
    lanes=st.sampled_from([1, 4, 8, 12]),
    rounds=st.integers(1, 3),
    world_size=st.integers(1, 12),
    seed=st.integers(0, 3),
)
def test_the_bytes_of_all_ranks_are_those_of_the_epoch_in_equal_parts(
    numbered, shards, rows, lanes, rounds, world_size, seed
):
    batch = lanes * rounds
    world_size = min(world_size, batch)
    stream = numbered([rows] * shards, seed)
    plan = FeedPlan.of(stream, global_batch_size=batch, num_lanes=lanes, end_of_epoch="uneven")
    found = [reads(plan, rank, world_size) for rank in range(world_size)]
    total = shards * rows * ROW_BYTES
    assert sum(count for count, _ in found) == total
    steps = -(-shards * rows // batch)
    assert max(count for count, _ in found) <= (total / world_size) + (steps + batch) * ROW_BYTES
    if lanes % world_size == 0:  # each rank has lanes of its own, which are runs of rows
        of_a_rank = shards / world_size
        assert max(len(mine) for _, mine in found) <= of_a_rank + 2 * lanes / world_size
        assert sum(len(mine) for _, mine in found) <= shards + lanes
    else:
        assert set.union(*(mine for _, mine in found)) == set(range(shards))


def test_rows_of_a_stream_that_is_filtered_are_read_by_every_rank(numbered):
    plan = FeedPlan.of(numbered([64, 64], 1).filter(lambda row: row["x"] % 2 == 0), global_batch_size=8)
    assert [reads(plan, rank, 2) for rank in range(2)] == [(64 * ROW_BYTES, set())] * 2


@settings(max_examples=60, deadline=None)
@given(sizes=st.lists(st.integers(1, 50), min_size=1, max_size=12), data=st.data())
def test_shards_are_told_when_they_are_touched_first(sizes, data):
    starts = np.cumsum([0, *sizes])[:-1]
    total = sum(sizes)
    touched, told = TouchedShards(starts, total), []
    seen = set()
    for _ in range(4):
        rows = np.array(data.draw(st.lists(st.integers(0, total - 1), min_size=1, max_size=20)))
        new = touched.add(rows)
        expected = {int(shard) for shard in starts.searchsorted(rows, side="right") - 1} - seen
        assert sorted(new) == sorted(expected)
        seen |= expected
        told += new
    assert len(set(told)) == len(told)


def test_rows_are_counted_as_they_are_read_and_not_as_they_are_mapped():
    table = pa.table({"x": np.arange(100), "text": ["0123456789"] * 100})
    stream = IterableDataset.from_tables([table]).shuffle(1, buffer_size=10).map(lambda row: {"text": row["text"] * 50})
    plan = FeedPlan.of(stream, global_batch_size=10, num_lanes=2)
    count, _ = reads(plan, 0, 1)
    assert count < 100 * 30
