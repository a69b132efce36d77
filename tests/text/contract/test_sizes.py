from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.text.contract.sizes import as_sizes, longest, one_size, position, sort_by_size


def test_sizes_of_one_row_are_plain_numbers():
    assert one_size(np.array([3], np.uint16)) == 3
    assert one_size(np.array([[3, 5]])) == (3, 5)
    assert one_size({"a": np.array([1]), "b": np.array([[2, 4]])}) == {"a": 1, "b": (2, 4)}


def test_longest_takes_the_largest_of_sides_and_parts():
    assert longest(np.array([3, 1])).tolist() == [3, 1]
    assert longest(np.array([[3, 5], [2, 1]])).tolist() == [5, 2]
    assert longest({"a": np.array([1, 9]), "b": np.array([[2, 4], [0, 1]])}).tolist() == [4, 9]


def test_sizes_are_taken_as_they_are_and_an_empty_list_is_fine():
    given_sizes = np.array([1, 2], np.uint16)
    assert as_sizes(given_sizes, "owner") is given_sizes
    assert as_sizes([], "owner").dtype == np.int64


@pytest.mark.parametrize("wrong", [[1.5], [[[1]]], ["a"], [3, -1]])
def test_what_is_no_sizes_is_an_error_that_names_the_owner(wrong):
    with pytest.raises(ValueError, match=r"^str: "):
        as_sizes(wrong, "owner")


def test_a_negative_size_is_an_error_that_names_the_row():
    with pytest.raises(ValueError, match="the size of row 1 is -1"):
        as_sizes([3, -1], "owner")


@pytest.mark.parametrize("largest", [10, 300, 70_000, 2**40])
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_sorting_equals_pythons_stable_sort_for_sizes_of_any_width(largest, data):
    sizes = data.draw(st.lists(st.tuples(*[st.integers(0, largest)] * 2), max_size=40))
    rows = data.draw(st.permutations(range(len(sizes))))
    array = np.array(sizes, np.int64).reshape(-1, 2)
    assert sort_by_size(np.array(rows, np.int64), array).tolist() == sorted(rows, key=lambda row: sizes[row])
    first = sort_by_size(np.array(rows, np.int64), array[:, 0])
    assert first.tolist() == sorted(rows, key=lambda row: sizes[row][0])


def test_rows_are_counted_from_the_end_too_and_what_is_outside_is_named():
    assert [position(index, "abc") for index in (0, 2, -1, -3, np.int64(1))] == [0, 2, 2, 0, 1]
    with pytest.raises(IndexError, match="str: index 3 is out of range for 3 rows"):
        position(3, "abc")
    with pytest.raises(IndexError, match="index -4"):
        position(-4, "abc")


def test_unsigned_64_bits_become_signed_so_that_sums_with_them_stay_integers():
    sizes = as_sizes(np.array([3, 4], np.uint64), "owner")
    assert (sizes.dtype, sizes.tolist()) == (np.int64, [3, 4])
    with pytest.raises(ValueError, match="must not be negative"):
        as_sizes(np.array([2**63], np.uint64), "owner")
