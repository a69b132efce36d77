"""Arguments are taken in all the forms that pyarrow takes, and wrong ones are named."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from raydata_ext.table import InMemoryTable

TABLE = InMemoryTable.from_pydict({"a": [1, 2, 3], "b": ["x", None, "z"], "c": [True, False, None]})


def test_columns_are_named_or_counted():
    assert TABLE.select(["c", 0]).column_names == ["c", "a"]
    assert TABLE.select([-1, 1]).column_names == ["c", "b"]
    assert TABLE.drop("a").column_names == TABLE.drop(["a"]).column_names == TABLE.remove_column(0).column_names
    assert TABLE.drop_columns(["a", "c"]).column_names == ["b"]
    with pytest.raises(KeyError, match="no columns are named 'd'; the columns are"):
        TABLE.select(["d"])
    with pytest.raises(KeyError, match="2 columns are named 'a'"):
        TABLE.rename_columns(["a", "a", "c"]).select(["a"])
    with pytest.raises(KeyError, match="no column 'd'"):
        TABLE.drop(["d"])
    for position in (3, -4):
        with pytest.raises(IndexError, match=f"no column {position} in a table of 3 columns"):
            TABLE.remove_column(position)


def test_names_are_all_given_or_only_those_that_change():
    assert TABLE.rename_columns(["x", "y", "z"]).column_names == ["x", "y", "z"]
    assert TABLE.rename_columns({"b": "y"}).column_names == ["a", "y", "c"]
    with pytest.raises(KeyError, match="'d'"):
        TABLE.rename_columns({"d": "y"})
    with pytest.raises(ValueError, match="2 names do not fit a table of 3 columns"):
        TABLE.rename_columns(["x", "y"])


@pytest.mark.parametrize(
    "values",
    [
        [4, None, 6],
        np.array([4.0, np.nan, 6.0]),
        pa.array([4, None, 6]),
        pa.chunked_array([[4], [None, 6]]),
        [pa.array([4, None]), pa.array([6])],
        (4, None, 6),
    ],
    ids=lambda values: type(values).__name__,
)
def test_a_column_is_given_as_arrow_numpy_or_python_values(values):
    assert TABLE.append_column("d", values).table.column("d").drop_null().to_pylist()[-1] == 6
    assert TABLE.add_column(0, "d", values).column_names == ["d", "a", "b", "c"]
    assert TABLE.set_column(-1, "d", values).column_names == ["a", "b", "d"]


def test_a_field_gives_type_nullability_and_metadata():
    field = pa.field("d", pa.int8(), nullable=False, metadata={"k": "v"})
    added = TABLE.append_column(field, [1, 2, 3])
    assert added.field("d").equals(field, check_metadata=True)
    with pytest.raises(TypeError, match="'d' is to be int8, but its values are int64"):
        TABLE.append_column(field, pa.array([1, 2, 3]))
    with pytest.raises(ValueError, match="'d' of 2 values does not fit a table of 3 rows"):
        TABLE.append_column("d", [1, 2])
    with pytest.raises(IndexError, match="column 4 cannot be added to a table of 3 columns"):
        TABLE.add_column(4, "d", [1, 2, 3])


@pytest.mark.parametrize(
    "mask",
    [
        [True, False, True],
        np.array([True, False, True]),
        pa.array([True, None, True]),
        pa.chunked_array([[True], [False, True]]),
        pc.field("b").is_valid(),
        pc.field("a") != 2,
    ],
    ids=lambda mask: type(mask).__name__,
)
def test_a_mask_is_given_as_arrow_numpy_python_values_or_an_expression(mask):
    assert TABLE.filter(mask).column("a").to_pylist() == [1, 3]


def test_a_null_in_a_mask_drops_the_row_or_makes_it_null():
    mask = pa.array([True, None, False])
    assert TABLE.filter(mask).column("a").to_pylist() == [1]
    assert TABLE.filter(mask, null_selection_behavior="emit_null").column("a").to_pylist() == [1, None]
    with pytest.raises(ValueError, match="mask of 2 values does not fit a table of 3 rows"):
        TABLE.filter([True, True])
