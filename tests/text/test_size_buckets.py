"""Rounding sizes up to a few."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.text.size_buckets import get_bucketed_sizes, get_buckets


def test_buckets_hold_about_equally_many_rows_and_the_last_is_the_largest_size():
    sizes = np.arange(1, 101)
    buckets = get_buckets(sizes, 4)
    assert buckets.tolist() == [25, 50, 75, 100]
    assert get_bucketed_sizes([1, 25, 26, 100, 101], buckets).tolist() == [25, 25, 50, 100, 101]


@given(st.lists(st.integers(0, 500), min_size=1, max_size=80), st.integers(1, 12))
@settings(max_examples=100, deadline=None)
def test_no_size_is_rounded_down_and_all_become_one_of_the_buckets(sizes, count):
    buckets = get_buckets(sizes, count)
    rounded = get_bucketed_sizes(sizes, buckets)
    assert len(buckets) <= count
    assert np.all(rounded >= sizes)
    assert set(rounded) <= set(buckets)


def test_no_bucket_and_a_negative_size_are_errors_that_say_so():
    with pytest.raises(ValueError, match="num_buckets is 0"):
        get_buckets([1], 0)
    with pytest.raises(ValueError, match="size -1 at index 1 is negative"):
        get_bucketed_sizes([1, -1], [2])


def test_without_rows_there_are_no_buckets():
    assert get_buckets([], 3).tolist() == get_bucketed_sizes([], [2]).tolist() == []


def test_a_bucket_beyond_the_type_of_the_sizes_does_not_wrap():
    assert get_bucketed_sizes(np.array([1, 65_535], np.uint16), [10, 70_000]).tolist() == [10, 70_000]
