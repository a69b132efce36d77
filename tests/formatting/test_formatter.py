from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.formatting.formatter import check_row, python_value


@pytest.mark.parametrize(
    "array", [pa.array([1, None]), pa.array([["a"], None]), pa.array([{"a": 1}, None]), pa.chunked_array([[1], [None]])]
)
def test_one_value_is_the_python_value_of_its_row(array):
    assert [python_value(array, 0), python_value(array, 1)] == array.to_pylist()


@pytest.mark.parametrize("index", [-1, 2])
def test_rows_outside_the_data_are_refused(index):
    with pytest.raises(IndexError, match=f"row {index} of 2 rows"):
        check_row(pa.record_batch({"a": [1, 2]}), index)
