"""Rows that are kept by number."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from raydata_ext.streaming.kept_rows import KeptRows


def batch_of(numbers):
    return pa.record_batch({"x": list(numbers)})


def values(kept, numbers):
    return kept.gather(np.array(numbers)).column("x").to_pylist()


def test_rows_are_found_by_number_in_whatever_order_they_came():
    kept = KeptRows()
    kept.add(np.arange(20, 30), batch_of(range(20, 30)))
    kept.add(np.arange(5), batch_of(range(5)))
    assert values(kept, [21, 0, 4, 21]) == [21, 0, 4, 21]
    kept.add(np.arange(10, 12), batch_of(range(10, 12)))
    assert values(kept, [11, 29]) == [11, 29]


def test_others_are_forgotten_once_that_frees_half_of_the_memory():
    kept = KeptRows()
    for first in range(0, 3000, 100):
        kept.add(np.arange(first, first + 100), batch_of(range(first, first + 100)))
    kept.keep_only([np.array([2999, 5]), np.arange(100, 1300)])
    assert len(kept) == 3000
    kept.keep_only([np.array([2999, 5]), np.array([1700])])
    assert len(kept) == 3
    assert values(kept, [1700, 2999, 5]) == [1700, 2999, 5]
    kept.add(np.array([7]), batch_of([7]))
    assert values(kept, [7, 5]) == [7, 5]


def test_nothing_may_be_left():
    kept = KeptRows()
    kept.add(np.arange(2000), batch_of(range(2000)))
    kept.keep_only([np.empty(0, np.int64)])
    assert len(kept) == 0


def test_rows_have_the_columns_of_all_that_were_kept():
    kept = KeptRows(pa.schema([("y", pa.string())]))
    kept.add(np.arange(2), batch_of([1, 2]))
    kept.add(np.array([9]), pa.record_batch({"x": [1.5]}))
    assert kept.gather(np.array([9, 0])).to_pylist() == [{"y": None, "x": 1.5}, {"y": None, "x": 1.0}]


def test_only_the_first_of_large_rows_are_gathered():
    kept = KeptRows()
    kept.add(np.arange(9), pa.record_batch({"x": [str(number) * 1000 for number in range(9)]}))
    assert [len(x) for x in kept.gather(np.array([4, 8, 2]), 2500).column("x").to_pylist()] == [1000, 1000]
    assert kept.gather(np.array([4, 8, 2]), 1).column("x").to_pylist() == ["4" * 1000]
    assert kept.gather(np.array([4, 8, 2])).num_rows == 3
