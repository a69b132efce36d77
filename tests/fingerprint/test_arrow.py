"""Arrow data."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydata_ext.fingerprint import hash_value

COLUMNS = {
    "integer": pa.array([1, None, 3, 4]),
    "small": pa.array([1, None, 3, 4], pa.int8()),
    "half": pa.array([1.5, None, 2, 3], pa.float16()),
    "boolean": pa.array([True, None, False, False]),
    "text": pa.array(["x", None, "yy", ""]),
    "large text": pa.array(["x", None, "yy", ""], pa.large_string()),
    "text view": pa.array(["x", None, "a text that is longer than twelve bytes", ""], pa.string_view()),
    "binary": pa.array([b"x", None, b"yy", b""]),
    "fixed binary": pa.array([b"ab", None, b"cd", b"ef"], pa.binary(2)),
    "decimal": pa.array([1, None, 3, 4], pa.decimal128(10, 2)),
    "time": pa.array([1, None, 3, 4], pa.timestamp("us", "UTC")),
    "interval": pa.array([pa.MonthDayNano([1, 2, 3]), None, pa.MonthDayNano([4, 5, 6]), None]),
    "list": pa.array([[1, 2], None, [], [3]]),
    "large list": pa.array([[1, 2], None, [], [3]], pa.large_list(pa.int64())),
    "list view": pa.array([[1, 2], None, [], [3]], pa.list_view(pa.int64())),
    "fixed list": pa.array([[1, 2], None, [3, None], [5, 6]], pa.list_(pa.int32(), 2)),
    "map": pa.array([[("a", 1)], None, [], [("b", 2), ("c", None)]], pa.map_(pa.string(), pa.int64())),
    "struct": pa.array([{"q": 1, "r": "a"}, None, {"q": None, "r": "b"}, {"q": 4, "r": None}]),
    "nested": pa.array([[{"a": ["x", None]}], None, [], [{"a": None}, None]]),
    "dictionary": pa.array(["p", "q", "p", None]).dictionary_encode(),
    "runs": pc.run_end_encode(pa.array([1, 1, None, 2])),
    "null": pa.nulls(4),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_chunks_slices_and_offsets_have_no_part_for_any_type(name):
    column = COLUMNS[name]
    digest = hash_value(column)
    sliced = pa.concat_arrays([column, column, column]).slice(4, 4) if name != "runs" else column
    assert hash_value(sliced) == digest
    assert hash_value(pa.chunked_array([column.slice(0, 1), column.slice(1, 0), column.slice(1, 3)])) == digest
    assert hash_value(column.slice(1)) != digest
    assert hash_value(column.slice(1, 2)) == hash_value(pa.chunked_array([column.slice(1, 1), column.slice(2, 1)]))


def test_all_types_are_told_apart():
    assert len({hash_value(column) for column in COLUMNS.values()}) == len(COLUMNS)


@given(st.lists(st.one_of(st.none(), st.lists(st.one_of(st.none(), st.text())))), st.data())
def test_columns_are_equal_exactly_for_equal_rows(rows, data):
    type_ = pa.list_(pa.string())
    cut = data.draw(st.integers(0, len(rows)))
    chunked = pa.chunked_array([pa.array(rows[:cut], type_), pa.array(rows[cut:], type_)])
    assert hash_value(chunked) == hash_value(pa.array(rows, type_))
    other = data.draw(st.lists(st.one_of(st.none(), st.lists(st.one_of(st.none(), st.text())))))
    assert (hash_value(pa.array(other, type_)) == hash_value(chunked)) == (other == rows)


def test_what_lies_under_a_null_has_no_part():
    valid = pa.array([True, False, True]).buffers()[1]
    for hidden in (2, 7):
        numbers = pa.Array.from_buffers(pa.int64(), 3, [valid, pa.py_buffer(np.array([1, hidden, 3]))])
        assert hash_value(numbers) == hash_value(pa.array([1, None, 3]))
    offsets, text = pa.py_buffer(np.array([0, 1, 3, 4], np.int32)), pa.py_buffer(b"abbc")
    assert hash_value(pa.Array.from_buffers(pa.string(), 3, [valid, offsets, text])) == hash_value(
        pa.array(["a", None, "c"])
    )
    lists = pa.Array.from_buffers(pa.list_(pa.int64()), 3, [valid, offsets], children=[pa.array([1, 2, 2, 3])])
    assert hash_value(lists) == hash_value(pa.array([[1], None, [3]]))


def test_unions_count_by_their_rows():
    codes = pa.array([0, 1, 0], pa.int8())
    sparse = pa.UnionArray.from_sparse(codes, [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])])
    other = pa.UnionArray.from_sparse(pa.array([1, 0], pa.int8()), [pa.array([9, 3]), pa.array(["b", "z"])])
    assert hash_value(sparse.slice(1)) == hash_value(other) != hash_value(sparse)
    dense = pa.UnionArray.from_dense(codes, pa.array([0, 0, 1], pa.int32()), [pa.array([1, 3]), pa.array(["b"])])
    cut = pa.UnionArray.from_dense(
        pa.array([1, 0], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([3]), pa.array(["b"])]
    )
    assert hash_value(dense.slice(1)) == hash_value(cut) != hash_value(dense)


def test_a_table_counts_by_names_and_columns_and_not_by_metadata_or_batches():
    table = pa.table({"a": [1, 2, 3], "b": ["x", "y", None]})
    assert hash_value(table) == hash_value(pa.concat_tables([table.slice(0, 1), table.slice(1)]))
    assert hash_value(table) == hash_value(table.replace_schema_metadata({"note": "x"}))
    assert hash_value(table) == hash_value(table.to_batches()[0])
    different = [table.rename_columns(["a", "c"]), table.select(["b", "a"]), table.slice(1), table.select(["a"])]
    assert len({hash_value(value) for value in (table, *different)}) == 5


def test_the_name_of_list_items_and_the_indices_of_a_dictionary_have_no_part():
    element = pa.list_(pa.field("element", pa.int64()))
    assert hash_value(pa.array([[1]], element)) == hash_value(pa.array([[1]]))
    narrow = pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), ["x", "y"])
    wide = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), ["y", "x"])
    assert hash_value(narrow) == hash_value(wide)


def test_schemas_types_scalars_and_buffers_count_by_content():
    values = [
        pa.int32(),
        pa.list_(pa.int32()),
        pa.field("a", pa.int32()),
        pa.schema({"a": pa.int32()}),
        pa.schema({"a": pa.int64()}),
        pa.scalar(1),
        pa.scalar("1"),
        pa.scalar(None),
        pa.py_buffer(b"abc"),
        pa.py_buffer(b"abd"),
    ]
    assert len({hash_value(value) for value in values}) == len(values)
    assert hash_value(pa.schema({"a": pa.int32()}, metadata={"k": "v"})) == hash_value(pa.schema({"a": pa.int32()}))


def test_expressions_and_compute_functions_are_hashed():
    assert hash_value(pc.utf8_lower) == hash_value(pc.utf8_lower) != hash_value(pc.utf8_upper)
    assert hash_value(pc.field("a") > 1) == hash_value(pc.field("a") > 1) != hash_value(pc.field("a") > 2)
