"""Every rank receives its share of the reference order, position by position."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.feed.plan import FeedPlan
from raydata_ext.feed.rank_batches import rank_batches
from raydata_ext.feed.share import Share


def received(plan, epoch, rank, world_size, **options):
    """(position, row, whether it is padding) of each row, a list a step."""
    order = plan.epoch(epoch)
    share = Share(rank, world_size, plan.num_lanes, plan.global_batch_size)
    steps = {}
    for batch in rank_batches(order, share, **options):
        rows = [] if batch.rows is None else batch.rows.column("x").to_pylist()
        padding = np.zeros(len(rows), bool) if batch.is_padding is None else batch.is_padding
        steps[batch.step] = list(zip(batch.positions.tolist(), rows, padding.tolist(), strict=True))
    return steps


sizes = st.lists(st.integers(0, 40), min_size=1, max_size=12).filter(lambda found: sum(found) > 0)


@settings(max_examples=150, deadline=None)
@given(
    sizes=sizes,
    seed=st.integers(0, 5),
    epoch=st.integers(0, 2),
    buffer_size=st.integers(1, 30),
    lanes=st.integers(1, 12),
    batch=st.integers(1, 24),
    world_size=st.integers(1, 16),
    end=st.sampled_from(["drop", "pad", "uneven"]),
    data=st.data(),
)
def test_the_ranks_together_receive_the_reference_order(
    oracle, numbered, shards, sizes, seed, epoch, buffer_size, lanes, batch, world_size, end, data
):
    world_size = min(world_size, batch)
    plan = FeedPlan.of(numbered(sizes, seed, buffer_size), global_batch_size=batch, num_lanes=lanes, end_of_epoch=end)
    order = oracle.global_order(shards(sizes), seed, epoch, buffer_size, lanes)
    total = len(order)
    steps = total // batch if end == "drop" else -(-total // batch)
    for rank in range(world_size):
        got = received(plan, epoch, rank, world_size)
        assert list(got) == list(range(steps))
        for step, rows in got.items():
            real = [(position, row) for position, row, padding in rows if not padding]
            assert real == oracle.rank_rows(order, step, batch, rank, world_size, plan.num_lanes)
            if end == "pad":
                assert len(rows) == len(
                    oracle.rank_rows(range(total + batch), step, batch, rank, world_size, plan.num_lanes)
                )
                assert all(row == order[position % total] for position, row, padding in rows if padding)
        first = data.draw(st.integers(0, steps))
        stride = data.draw(st.integers(1, 3))
        assert received(plan, epoch, rank, world_size, first_step=first, stride=stride) == {
            step: got[step] for step in range(first, steps, stride)
        }
