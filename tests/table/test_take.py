"""Rows of record batches by number."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from raydata_ext import Dataset
from raydata_ext.table.take import take_rows

COLUMNS = {
    "int64": pa.array([1, None, 3, 4]),
    "string_view": pa.array(["a", None, "a text that is longer than a view", "d"], pa.string_view()),
    "binary_view": pa.array([b"a", None, b"bytes that are longer than a view", b"d"], pa.binary_view()),
    "run_end_encoded": pa.RunEndEncodedArray.from_arrays(pa.array([2, 4], pa.int32()), pa.array(["x", "y"])),
    "list of views": pa.array([["a"], None, [], ["d", None]], pa.list_(pa.string_view())),
}


@pytest.mark.parametrize("rows", [[], [0], [3, 1, 1, 2]])
@pytest.mark.parametrize("kind", COLUMNS)
def test_rows_of_every_type_come_in_the_order_that_is_asked_for(kind: str, rows: list[int]) -> None:
    batch = pa.record_batch({"number": pa.array(range(4)), "value": COLUMNS[kind]})
    taken = take_rows(batch, np.array(rows, np.int64))
    assert taken.schema == batch.schema
    assert taken.to_pylist() == [batch.to_pylist()[row] for row in rows]


@pytest.mark.parametrize("kind", COLUMNS)
def test_data_sets_of_every_type_can_be_filtered(kind: str, tmp_path) -> None:
    rows = Dataset.from_arrow(pa.table({"number": range(4), "value": COLUMNS[kind]}), cache_dir=tmp_path)
    assert rows.filter(lambda row: row["number"] % 2 == 1).to_list() == rows.to_list()[1::2]
