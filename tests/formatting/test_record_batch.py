from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from raydata_ext.errors import SchemaError
from raydata_ext.formatting import (
    LazyBatch,
    RowCursor,
    batch_from_columns,
    batch_from_rows,
    batch_from_table,
    is_table,
)


def test_columns_of_any_make_become_one_batch_in_their_order():
    batch = batch_from_columns(
        {"b": [1, 2], "a": np.array([1, 2], np.int8), "c": pd.Series(["x", "y"]), "d": pa.array([None, True])}
    )

    assert batch.schema == pa.schema([("b", pa.int64()), ("a", pa.int8()), ("c", pa.string()), ("d", pa.bool_())])
    assert batch.to_pydict() == {"b": [1, 2], "a": [1, 2], "c": ["x", "y"], "d": [None, True]}


def test_columns_of_unequal_length_are_an_error_that_names_them_all():
    with pytest.raises(SchemaError, match="'a' has 1, 'b' has 2 rows"):
        batch_from_columns({"a": [1], "b": [1, 2]})
    with pytest.raises(SchemaError, match="'a' has 1 rows, 3 expected"):
        batch_from_columns({"a": [1]}, num_rows=3)


def test_no_columns_still_have_their_rows():
    assert batch_from_columns({}, num_rows=3).num_rows == 3
    assert batch_from_columns({}).num_rows == 0


def test_a_name_that_is_no_string_is_a_type_error():
    with pytest.raises(TypeError, match="column names must be strings, not 1"):
        batch_from_columns({1: [2]})


def test_hints_are_taken_by_name_and_only_where_no_value_changes():
    hints = pa.schema([("n", pa.int32()), ("s", pa.int64()), ("gone", pa.int8())])

    batch = batch_from_columns({"s": ["3"], "n": [3], "new": [3]}, hints=hints)

    assert batch.schema == pa.schema([("s", pa.string()), ("n", pa.int32()), ("new", pa.int64())])


def test_rows_with_different_keys_give_the_union_with_nulls():
    batch = batch_from_rows([{"a": 1}, None, {"b": "x", "a": 2}, {}])

    assert batch.to_pydict() == {"a": [1, None, 2, None], "b": [None, None, "x", None]}
    assert batch.schema.names == ["a", "b"]


def test_a_first_row_of_none_loses_nothing():
    assert batch_from_rows([None, {"a": 1}]).to_pydict() == {"a": [None, 1]}


def test_rows_that_are_all_none_are_still_rows():
    assert batch_from_rows([None, None]).num_rows == 2
    assert batch_from_rows([]).num_rows == 0


def test_rows_of_numpy_and_torch_values_keep_their_types():
    torch = pytest.importorskip("torch")

    batch = batch_from_rows([{"v": np.arange(2, dtype=np.int16), "t": torch.ones(2), "n": np.uint8(1)}] * 2)

    assert batch.schema.types == [pa.list_(pa.int16()), pa.list_(pa.float32()), pa.uint8()]


def test_rows_take_hints_too():
    assert batch_from_rows([{"n": 1}], pa.schema([("n", pa.int8())])).schema.types == [pa.int8()]


def test_a_value_that_does_not_fit_is_named():
    with pytest.raises(SchemaError, match="column 'n', row 1: 'x'"):
        batch_from_rows([{"n": 1}, {"n": "x"}])


def test_lazy_rows_and_batches_come_back_as_they_went():
    batch = pa.record_batch({"n": pa.array([1, None], pa.int32()), "l": [["a"], None], "f": [0.5, float("nan")]})

    assert str(batch_from_rows(list(RowCursor(batch)), batch.schema).to_pydict()) == str(batch.to_pydict())
    assert batch_from_rows(list(RowCursor(batch)), batch.schema).schema == batch.schema
    assert batch_from_columns(LazyBatch(batch), hints=batch.schema).schema == batch.schema


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"a": [1, 2], "b": ["x", None]}),
        pa.record_batch({"a": [1, 2], "b": ["x", None]}),
        pa.table({"a": pa.chunked_array([[1], [2]]), "b": pa.chunked_array([["x", None]])}),
        pd.DataFrame({"a": [1, 2], "b": ["x", None]}, index=[7, 8]),
        pa.RecordBatchReader.from_batches(
            pa.schema([("a", pa.int64()), ("b", pa.string())]), [pa.record_batch({"a": [1, 2], "b": ["x", None]})]
        ),
    ],
)
def test_whole_tables_of_any_make_become_one_batch(table):
    assert is_table(table)

    batch = batch_from_table(table)

    assert batch.schema == pa.schema([("a", pa.int64()), ("b", pa.string())])
    assert batch.to_pydict() == {"a": [1, 2], "b": ["x", None]}


@pytest.mark.parametrize(
    "table",
    [
        pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]),
        pa.record_batch([pa.array([1]), pa.array([2])], names=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
    ],
)
def test_two_columns_of_one_name_are_a_type_error(table):
    with pytest.raises(TypeError, match="two columns of the table have the name 'a'; give each"):
        batch_from_table(table)


def test_a_table_without_columns_keeps_its_rows():
    assert batch_from_table(pa.table({"a": [1, 2]}).select([])).num_rows == 2
    assert batch_from_table(pd.DataFrame(index=range(3))).num_rows == 3


@pytest.mark.parametrize("value", [{"a": [1]}, [1], None, pa.array([1]), pa.chunked_array([[1]])])
def test_what_is_no_table_is_told_apart(value):
    assert not is_table(value)
    with pytest.raises(TypeError, match="expected an Arrow table"):
        batch_from_table(value)


def test_the_limit_of_32_bit_offsets_is_never_an_overflow():
    batch = batch_from_columns({"ids": [np.arange(3, dtype=np.int32)] * 2}, max_offset=5)

    assert batch.schema.types == [pa.large_list(pa.int32())]


def test_ten_million_tokens_in_numpy_arrays_make_one_list_column():
    arrays = [np.full(10_000, number, np.int32) for number in range(1000)]

    batch = batch_from_columns({"input_ids": arrays})

    assert batch.schema.types == [pa.list_(pa.int32())]
    assert batch["input_ids"][999][9999].as_py() == 999
