"""The books of a coordinator stay small, whatever its ranks do."""

from __future__ import annotations

import pytest

from raydata_ext.feed.coordinator_actor import CoordinatorActor
from raydata_ext.feed.feed_state import load_position
from raydata_ext.feed.plan import FeedPlan
from raydata_ext.feed.rank_batches import rank_batches
from raydata_ext.feed.share import Share


@pytest.fixture
def plan(numbered):
    return FeedPlan.of(numbered([9000], 1).filter(lambda row: row["x"] % 3 > 0), global_batch_size=2, num_lanes=1)


def test_a_rank_that_is_silent_lets_neither_memory_grow_nor_the_place_of_all_be_lost(plan):
    actor = CoordinatorActor(plan, 0, None, None, 100)
    silent, busy = (actor.join(name, rank, 2).member for rank, name in enumerate(("silent", "busy")))
    batches = list(rank_batches(plan.epoch(0), Share(1, 2, 1, 2)))
    assert len(batches) == 3000
    for batch in batches:
        if batch.step == 6:
            actor.report(silent, 0, 7, {}, (0, batch.mark))
        actor.report(busy, 0, batch.step + 1, {}, (0, batch.mark))
    assert len(actor._read_marks) <= 1024
    position = load_position(plan, actor.state_dict())
    assert (position.step, position.mark.step) == (7, 7)
    actor.report(silent, 0, 2900, {}, None)
    position = load_position(plan, actor.state_dict())
    assert position.step == 2900
    assert 2880 < position.mark.step <= 2900
