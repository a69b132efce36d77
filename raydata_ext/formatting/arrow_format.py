"""Rows and batches as the Arrow data they are."""

from __future__ import annotations

import pyarrow as pa

from raydata_ext.formatting.formatter import Formatter, check_row


class ArrowFormatter(Formatter):
    """A row is a `pa.Table` of one row, a batch the table or record batch itself; nothing is copied."""

    def row(self, batch: pa.RecordBatch | pa.Table, index: int) -> pa.Table:
        """One row as a table; see `Formatter.row`."""
        check_row(batch, index)
        row = self.batch(batch.slice(index, 1))
        return row if isinstance(row, pa.Table) else pa.Table.from_batches([row])

    def batch(self, data: pa.RecordBatch | pa.Table) -> pa.RecordBatch | pa.Table:
        """The data itself, reduced to the columns of the format; see `Formatter.batch`."""
        names = [*self._formatted_names(data.schema), *self._other_names(data.schema)]
        return data if names == data.schema.names else data.select(names)

    def column(self, array: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
        """The array itself."""
        return array
