"""A state of a shuffle needs no buffer: it is made again, and is the same."""

from __future__ import annotations

import json

import numpy as np
import pytest

from raydata_ext.feed.feed_state import Position, load_position, save_position
from raydata_ext.feed.order_tracker import OrderTracker
from raydata_ext.feed.plan import FeedPlan
from raydata_ext.streaming import concatenate_datasets

SIZES = [4000, 1, 2500, 3333, 0, 700]


@pytest.mark.parametrize("sources", [1, 3])
@pytest.mark.parametrize("buffer_size", [1, 2, 3, 64, 1000, 1024, 3001])
@pytest.mark.parametrize("lanes", [1, 3])
def test_buffers_are_made_again_at_any_step(numbered, buffer_size, lanes, sources):
    stream = concatenate_datasets([numbered(SIZES * (3 // sources)) for _ in range(sources)])
    stream = stream.shuffle(7, buffer_size=buffer_size, max_buffer_input_shards=4)
    plan = FeedPlan.of(stream, global_batch_size=100, num_lanes=lanes)
    tracker = OrderTracker(plan)
    for step in (1, 2, 40, 41, 97, 150, 250, 314, 315):
        mark = tracker.mark(2, step)
        order = tracker.order(2)
        state = json.loads(json.dumps(save_position(order, Position(2, step, mark))))
        again = load_position(plan, state).mark
        for was, saved, now in zip(mark.lanes, state["mark"]["lanes"], again.lanes, strict=True):
            is_full = len(was["at"]["buffer"]) == buffer_size
            assert (saved["at"]["buffer"] is None) == is_full
            assert np.array_equal(was["at"]["buffer"], now["at"]["buffer"])


def test_a_state_of_64_lanes_with_buffers_of_30_000_rows_is_less_than_100_kilobytes(numbered):
    plan = FeedPlan.of(numbered([50_000] * 64, 7, 30_000), global_batch_size=512)
    tracker = OrderTracker(plan)
    state = save_position(tracker.order(0), Position(0, 5_000, tracker.mark(0, 5_000)))
    assert len(json.dumps(state)) < 100_000
