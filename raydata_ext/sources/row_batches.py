"""Rows that come one by one, as record batches of bounded size."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BATCH_ROWS = 1000
BATCH_BYTES = 4 << 20


@dataclass
class RowBatches:
    """Collects rows; a batch is full with 1,000 rows or about 4 MB.

    Attributes:
        schema: of the batches; what else a row holds is left out.
    """

    schema: pa.Schema
    _rows: list[Mapping[str, Any]] = field(default_factory=list)
    _bytes: int = 0
    _empty: bool = True

    def add(self, row: Mapping[str, Any], num_bytes: int) -> Iterator[pa.RecordBatch]:
        """Take a row, and give a batch if that is full now.

        Args:
            row: values by column.
            num_bytes: about its size.
        """
        self._rows.append(row)
        self._bytes += num_bytes
        if len(self._rows) >= BATCH_ROWS or self._bytes >= BATCH_BYTES:
            yield self._take()

    def finish(self) -> Iterator[pa.RecordBatch]:
        """Give the rest, or a batch of no rows where there was none at all."""
        if self._rows or self._empty:
            yield self._take()

    def _take(self) -> pa.RecordBatch:
        batch = pa.RecordBatch.from_pylist(self._rows, schema=self.schema)
        self._rows, self._bytes, self._empty = [], 0, False
        return batch
