"""A search among ascending numbers finds what NumPy's own search does."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.table.ascending_search import AscendingSearch


def require_same(ascending, numbers):
    found = AscendingSearch(ascending).last_not_above(numbers)
    assert found.tolist() == (ascending.searchsorted(numbers, side="right") - 1).tolist()


@settings(max_examples=200, deadline=None)
@given(steps=st.lists(st.integers(1, 50), max_size=40), first=st.integers(0, 1000), data=st.data())
def test_it_finds_the_last_that_is_not_above(steps, first, data):
    ascending = np.cumsum([first, *steps])
    require_same(ascending, np.array(data.draw(st.lists(st.integers(first, first + 3000), max_size=30)), np.int64))


def test_it_finds_it_among_numbers_that_are_spread_very_unevenly():
    generator = np.random.default_rng(0)
    for gaps in (np.where(generator.random(3000) < 0.01, 1_000_000, 1), np.full(100_000, 3), np.array([2**40, 1, 1])):
        ascending = np.cumsum(np.append(0, gaps))
        require_same(ascending, generator.integers(0, ascending[-1] + 10, 2000))


def test_below_all_it_finds_a_place_that_the_caller_can_see_is_wrong():
    found = AscendingSearch(np.array([10, 20, 30])).last_not_above(np.array([0, 9, 10]))
    assert found.tolist() in ([0, 0, 0], [-1, -1, 0])
