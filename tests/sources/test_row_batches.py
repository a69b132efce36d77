"""Rows that come one by one, as batches."""

from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.sources.row_batches import RowBatches

SCHEMA = pa.schema([("n", pa.int64())])


@pytest.mark.parametrize(
    ("rows", "num_bytes", "sizes"),
    [(0, 1, [0]), (1, 1, [1]), (1000, 1, [1000]), (2500, 1, [1000, 1000, 500]), (5, 2 << 20, [2, 2, 1])],
)
def test_a_batch_is_full_by_rows_or_bytes(rows: int, num_bytes: int, sizes: list[int]) -> None:
    batches = RowBatches(SCHEMA)
    found = [batch for number in range(rows) for batch in batches.add({"n": number, "other": 1}, num_bytes)]
    found += batches.finish()
    assert [batch.num_rows for batch in found] == sizes
    assert {batch.schema for batch in found} == {SCHEMA}
    assert [number for batch in found for number in batch.column("n").to_pylist()] == list(range(rows))
