"""Rows that are longer than a model can take are left out, whatever form sizes and limits have."""

from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.filter_by_size import filter_by_size, fits, split_by_size


class WithSizes:
    def __init__(self, sizes):
        self.sizes = np.array(sizes)

    def size(self, index):
        raise AssertionError("sizes are at hand as an array")


@pytest.mark.parametrize(
    ("size", "limit", "answer"),
    [
        (5, 5, True),
        (6, 5, False),
        (6, 5.5, False),
        (5, None, True),
        ((5, 9), (5, 9), True),
        ((5, 10), (5, 9), False),
        ((5, None), (5, 9), True),
        ((5, 10), (5, None), True),
        (5, (5, 9), True),
        (6, (5, 9), False),
        ((5, 6), 5, False),
        ({"a": (1, 2), "b": (9, 9)}, {"a": (1, 2)}, True),
        ({"a": (1, 3), "b": (9, 9)}, {"a": (1, 2), "c": 0}, False),
        ({"a": 1, "b": 3}, (1, 3), True),
        ({"a": 1, "b": 4}, (1, 3), False),
        ({"a": 1, "b": 4}, 3, False),
    ],
)
def test_a_size_is_held_against_a_limit_part_by_part(size, limit, answer):
    assert fits(size, limit) == answer
    kept = filter_by_size([7], lambda index: size, limit)
    assert kept.tolist() == ([7] if answer else [])


def test_arrays_of_sizes_give_the_rows_in_their_order_without_a_call_a_row():
    dataset = WithSizes([3, 9, 4, 1, 5])
    assert filter_by_size([4, 1, 0, 3], dataset, 4).tolist() == [0, 3]
    kept, ignored = split_by_size(np.array([4, 1, 0, 3]), dataset, 4)
    assert (kept.tolist(), ignored.tolist()) == ([0, 3], [4, 1])
    assert kept.dtype == np.int64
    pairs = WithSizes([[3, 3], [3, 9], [9, 3]])
    assert filter_by_size(range(3), pairs, (5, 5)).tolist() == [0]
    assert filter_by_size(range(3), pairs, (5, None)).tolist() == [0, 1]
    assert filter_by_size(range(3), pairs, None).tolist() == [0, 1, 2]


@pytest.mark.parametrize("rows", [[], range(0), np.empty(0, np.int64), iter(())])
def test_no_rows_stay_no_rows(rows):
    assert filter_by_size(rows, WithSizes([3]), 4).tolist() == []


def test_a_row_that_is_too_long_is_an_error_where_that_is_asked_for():
    with pytest.raises(ValueError, match=r"Size of sample #1 is invalid \(=9\) since max_positions=4"):
        filter_by_size(range(3), [3, 9, 4].__getitem__, 4, raise_exception=True)


def test_rows_that_are_left_out_are_said(caplog):
    filter_by_size(range(3), [3, 9, 8].__getitem__, 4)
    assert (
        "2 samples have invalid sizes and will be skipped, max_positions=4, first few sample ids=[1, 2]" in caplog.text
    )


def test_limits_that_do_not_go_with_sizes_are_refused():
    with pytest.raises(TypeError, match="max_positions is a dict"):
        fits(3, {"a": 4})
    with pytest.raises(ValueError, match="2 parts"):
        fits((3, 4), (3, 4, 5))
