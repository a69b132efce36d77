"""Positions are found in lanes of any lengths as taking one row of each in turn does."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.feed.layout import ENDLESS, Layout


@settings(max_examples=200, deadline=None)
@given(lengths=st.lists(st.integers(0, 9), min_size=1, max_size=8))
def test_positions_are_those_of_a_round_robin(lengths):
    plain = [(lane, row) for row in range(max(lengths)) for lane, size in enumerate(lengths) if row < size]
    layout = Layout(lengths)
    assert layout.total == len(plain)
    lanes, rows = layout.locate(np.arange(len(plain)))
    assert list(zip(lanes.tolist(), rows.tolist(), strict=True)) == plain
    for position in range(len(plain) + 1):
        before = [sum(lane == of for of, _ in plain[:position]) for lane in range(len(lengths))]
        assert layout.rows_before(position).tolist() == before


def test_lanes_without_end_have_positions_beyond_any_table():
    layout = Layout([ENDLESS] * 4)
    assert layout.is_endless
    assert [part.tolist() for part in layout.locate(np.array([10**12 + 3]))] == [[3], [10**12 // 4]]
    assert layout.rows_before(10**12 + 3).tolist() == [10**12 // 4 + 1] * 3 + [10**12 // 4]
