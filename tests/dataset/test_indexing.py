"""From what users write between brackets to positions."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydata_ext.dataset.indexing import as_run, is_one, position_of, positions_of


@given(st.data())
def test_positions_are_those_of_a_list(data):
    items = list(range(data.draw(st.integers(1, 20))))
    keys = data.draw(st.lists(st.integers(-len(items), len(items) - 1)))
    assert positions_of(keys, len(items)).tolist() == [items[key] for key in keys]
    assert [position_of(key, len(items)) for key in keys] == [items[key] for key in keys]


@pytest.mark.parametrize(
    "keys",
    [
        [0, -1],
        (0, -1),
        np.array([0, -1]),
        np.array([0, -1], np.int8),
        pa.array([0, -1]),
        iter([0, -1]),
        range(0, -2, -1),
    ],
    ids=["list", "tuple", "int64", "int8", "Arrow", "iterator", "range"],
)
def test_integers_come_in_any_container(keys):
    assert positions_of(keys, 5).tolist() == [0, 4]


@pytest.mark.parametrize("keys", [[], (), range(0), np.array([]), iter([])])
def test_no_rows_may_be_asked_for_with_any_empty_container(keys):
    assert positions_of(keys, 5).dtype == np.int64
    assert positions_of(keys, 0).tolist() == []


@pytest.mark.parametrize(("keys", "wrong"), [([0, 5], 5), ([-6], -6), (np.array([2**63], np.uint64), 2**63)])
def test_a_row_that_is_not_there_is_named(keys, wrong):
    with pytest.raises(IndexError, match=f"row {wrong} is out of range for 5 rows"):
        positions_of(keys, 5)
    with pytest.raises(IndexError, match=f"row {wrong} is out of range for 5 rows"):
        position_of(wrong, 5)


@pytest.mark.parametrize("keys", [[True, False], [0.0], ["a"], [[0]], {0, 1}, np.zeros((1, 1), int), 1.5, None, True])
def test_what_is_no_list_of_integers_is_refused_and_so_is_a_mask(keys):
    with pytest.raises(TypeError, match="chosen by an int, a slice or a list of ints"):
        positions_of(keys, 5)


@pytest.mark.parametrize(
    ("key", "one"), [(3, True), (np.int8(3), True), (np.array(3), True), (np.array([3]), False), (True, False)]
)
def test_an_array_stands_for_several_rows_and_a_scalar_for_one(key, one):
    assert is_one(key) is one


@given(st.integers(0, 5), st.integers(0, 5))
def test_a_run_is_found(first, length):
    run = as_run(np.arange(first, first + length))
    assert run is not None
    assert list(run) == list(range(first, first + length))


@pytest.mark.parametrize("positions", [[1, 0], [0, 2], [0, 0], [0, 2, 1, 3]])
def test_what_is_no_run_is_none(positions):
    assert as_run(np.array(positions)) is None
