from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.formatting import LazyRow, RowCursor

BATCH = pa.record_batch({"a": [1, None, 3], "tags": [["p"], [], None], "meta": [{"n": [1]}, {"n": []}, {"n": None}]})


def test_each_row_of_a_cursor_is_that_row_of_the_batch():
    assert [dict(row) for row in RowCursor(BATCH)] == BATCH.to_pylist()
    assert RowCursor(BATCH).row(1) == {"a": None, "tags": [], "meta": {"n": []}}
    assert LazyRow(BATCH, 2) == {"a": 3, "tags": None, "meta": {"n": None}}


@pytest.mark.parametrize("index", [-1, 3])
def test_a_row_that_does_not_exist_is_an_index_error(index):
    with pytest.raises(IndexError, match=f"row {index} of a record batch of 3 rows"):
        LazyRow(BATCH, index)
    with pytest.raises(IndexError):
        RowCursor(BATCH).row(index)


def test_rows_of_a_cursor_share_one_conversion_of_a_column():
    cursor = RowCursor(BATCH)
    first, second = cursor.row(0), cursor.row(1)

    assert first["a"] == 1

    assert second.touched == cursor.touched == {"a"}
    assert cursor.values("a") == [1, None, 3]


def test_a_list_changed_in_place_is_a_change_of_its_row_alone():
    cursor = RowCursor(BATCH)
    first, second, third = cursor

    first["tags"].append("q")
    second["meta"]["n"].append(2)
    assert third["tags"] is None

    assert first.changes() == {"tags": ["p", "q"]}
    assert second.changes() == {"meta": {"n": [2]}}
    assert third.changes() == {}
    assert cursor.touched == {"tags", "meta"}


def test_a_list_only_looked_at_is_no_change():
    (row, *_) = RowCursor(BATCH)

    assert row["tags"] == ["p"]

    assert row.changes() == {}


def test_setting_a_key_in_one_row_leaves_the_others():
    first, second, _ = RowCursor(BATCH)
    first["a"] = 10
    del first["tags"]

    assert second == {"a": None, "tags": [], "meta": {"n": []}}


def test_a_column_named_twice_in_changes_keeps_what_was_set():
    row = LazyRow(BATCH, 0)
    row["tags"].append("q")
    row["tags"] = "set"

    assert row.changes() == {"tags": "set"}
