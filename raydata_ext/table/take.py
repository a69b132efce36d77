"""Rows of a record batch by number, of types that Arrow's own `take` does not know as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from raydata_ext.table.row_index import RowIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def take_rows(batch: pa.RecordBatch, rows: NDArray[np.int64]) -> pa.RecordBatch:
    """Copy rows of a batch.

    Args:
        batch: the batch.
        rows: numbers of rows in it, in any order; int64, shape (n,).
    """
    if not len(rows):
        return batch.slice(0, 0)
    try:
        return batch.take(pa.array(rows))
    except pa.ArrowNotImplementedError:  # string and binary views, and run-end encoded values
        gathered = RowIndex.of_table(pa.Table.from_batches([batch])).fast_gather(rows)
        return gathered.combine_chunks().to_batches()[0]
