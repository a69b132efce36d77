"""Columns out of what a function made of rows."""

from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.engine.row_changes import RowChanges
from raydata_ext.formatting import RowCursor

BATCH = pa.record_batch({"a": [1, 2, 3], "b": ["x", "y", "z"]})
KEPT = frozenset()


def changes(assigned, *, deleted=(KEPT, KEPT, KEPT), hidden=(), doubtful=()):
    return RowChanges(RowCursor(BATCH), assigned, deleted, hidden, doubtful)


def test_equal_keys_become_columns():
    assert changes([{"n": 1}, {"n": 2}, {"n": 3}]).columns() == {"n": [1, 2, 3]}


def test_what_a_row_does_not_set_is_its_old_value_or_null():
    result = changes([{"a": 10}, {"n": 2}, {}]).columns()
    assert result == {"a": [10, 2, 3], "n": [None, 2, None]}


def test_a_removed_column_has_no_old_values():
    assert changes([{"a": 10}, {}, {}], hidden=("a",)).columns() == {"a": [10, None, None]}


def test_a_column_that_some_rows_delete_is_null_there():
    partly = changes([{}, {}, {}], deleted=(frozenset({"a"}), KEPT, KEPT))
    assert partly.gone == frozenset()
    assert partly.columns() == {"a": [None, 2, 3]}


def test_a_removed_column_that_some_rows_delete_as_well_does_not_come_back():
    partly = changes([{}, {}, {}], deleted=(frozenset({"a"}), KEPT, KEPT), hidden=("a",))
    assert partly.columns() == {}


def test_a_column_that_all_rows_delete_is_gone():
    everywhere = changes([{}, {}, {}], deleted=(frozenset({"a"}),) * 3)
    assert everywhere.gone == {"a"}
    assert everywhere.columns() == {}


def test_a_deleted_column_that_is_set_again_stays():
    again = changes([{"a": 1}, {}, {}], deleted=(frozenset({"a"}),) * 3)
    assert again.gone == frozenset()
    assert again.columns() == {"a": [1, None, None]}


@pytest.mark.parametrize("doubtful", [(), ("b",)])
def test_values_that_come_back_as_they_were_are_the_arrow_array_unless_they_may_have_changed(doubtful):
    given = changes([], doubtful=doubtful)
    values = given.cursor.values("b")
    result = RowChanges(given.cursor, [{"b": value} for value in values], [KEPT] * 3, (), doubtful).columns()["b"]
    assert result == (["x", "y", "z"] if doubtful else BATCH.column("b"))
