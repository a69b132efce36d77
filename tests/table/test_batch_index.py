"""Rows of one table by record batch; what is found about a batch is kept, within bounds."""

from __future__ import annotations

import pyarrow as pa

from raydata_ext.table import batch_index as module
from raydata_ext.table.batch_index import BatchIndex


def test_batches_without_rows_are_left_out():
    column = pa.chunked_array([[], [1, 2], [], [3], []], pa.int64())
    index = BatchIndex(pa.table({"n": column}))
    assert [batch.num_rows for batch in index.batches] == [2, 1]
    assert index.starts == [0, 2, 3]
    assert [index.locate(row) for row in range(3)] == [(0, 0), (0, 1), (1, 0)]


def test_columns_of_different_chunks_are_cut_at_every_border():
    table = pa.table({"a": pa.chunked_array([[1, 2], [3, 4]]), "b": pa.chunked_array([[1], [2, 3, 4]])})
    index = BatchIndex(table)
    assert index.starts == [0, 1, 2, 4]
    assert [index.row(i) for i in range(4)] == table.to_pylist()


def test_slices_share_the_data_and_whole_batches_are_handed_out_as_they_are():
    index = BatchIndex(pa.table({"n": pa.chunked_array([[1, 2], [3, 4], [5, 6]])}))
    parts = list(index.slice(1, 5))
    assert [part.column("n").to_pylist() for part in parts] == [[2], [3, 4], [5]]
    assert parts[1] is index.batches[1]
    assert list(index.slice(3, 3)) == []


def test_the_columns_kept_for_rows_are_bounded(monkeypatch):
    monkeypatch.setattr(module, "_MAX_CACHED_ARRAYS", 6)
    table = pa.table({"a": pa.chunked_array([[i] for i in range(20)]), "b": pa.chunked_array([[i] for i in range(20)])})
    index = BatchIndex(table)
    assert [index.row(i)["a"] for i in range(20)] == list(range(20))
    assert len(index._columns) <= 3
    wide = pa.table({str(i): [i] for i in range(10)})
    assert BatchIndex(wide).row(0) == wide.to_pylist()[0]
