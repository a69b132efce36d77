"""Find rows in the record batches of one opened table."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from raydata_ext.table.layout import Layout

_MAX_CACHED_ARRAYS = 4096


class BatchIndex:
    """The record batches of a table, and in which of them each row is.

    What costs time per batch (its columns as Python objects, the addresses of its buffers, its size) is found when a
    batch is first touched, and kept.

    Args:
        table: the table. Its rows stay where they are.

    Attributes:
        batches: the record batches that have rows.
        starts: the first row of each, and the number of all rows at the end.
    """

    def __init__(self, table: pa.Table) -> None:
        self.batches: list[pa.RecordBatch] = [batch for batch in table.to_batches() if batch.num_rows]
        self._names: list[str] = table.column_names
        self.starts: list[int] = [0, *accumulate(batch.num_rows for batch in self.batches)]
        self._columns: dict[int, list[pa.Array]] = {}
        self._addresses: dict[int, NDArray[np.int64]] = {}
        self._bytes: list[int] | None = None

    def locate(self, row: int) -> tuple[int, int]:
        """Return the number of the batch that a row is in, and the place of the row in it."""
        batch = bisect_right(self.starts, row) - 1
        return batch, row - self.starts[batch]

    def row(self, row: int) -> dict[str, Any]:
        """Return one row as Python values."""
        batch, place = self.locate(row)
        columns = self._columns.get(batch)
        if columns is None:
            columns = self._cache_columns(batch)
        return {name: column[place].as_py() for name, column in zip(self._names, columns, strict=True)}

    def slice(self, start: int, stop: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows from start up to stop, zero-copy, in the batches that they are in."""
        if start >= stop:
            return
        first, place = self.locate(start)
        last, end = self.locate(stop - 1)
        for number in range(first, last + 1):
            batch = self.batches[number]
            begin = place if number == first else 0
            length = (end + 1 if number == last else batch.num_rows) - begin
            yield batch if length == batch.num_rows else batch.slice(begin, length)

    def nbytes(self, start: int, stop: int) -> int:
        """Return the bytes of the rows from start up to stop."""
        if start >= stop:
            return 0
        if self._bytes is None:
            self._bytes = [0, *accumulate(batch.nbytes for batch in self.batches)]
        first, place = self.locate(start)
        last, end = self.locate(stop - 1)
        if first == last:
            return int(self.batches[first].slice(place, end + 1 - place).nbytes)
        head = int(self.batches[first].slice(place).nbytes)
        tail = int(self.batches[last].slice(0, end + 1).nbytes)
        return head + self._bytes[last] - self._bytes[first + 1] + tail

    def find_addresses(self, batch: int, layouts: Sequence[Layout | None]) -> NDArray[np.int64]:
        """Return where the buffers of a batch are, column after column.

        Args:
            batch: number of the batch.
            layouts: layout of each column; a column whose layout is None is left out.

        Returns:
            Addresses, valid while the batch is alive; int64, shape (sum of the sizes of the layouts,).
        """
        found = self._addresses.get(batch)
        if found is None:
            columns = zip(self.batches[batch].columns, layouts, strict=True)
            addresses = [
                address for column, layout in columns if layout is not None for address in layout.addresses(column)
            ]
            found = self._addresses[batch] = np.array(addresses, np.int64)
        return found

    def known_addresses(self) -> dict[int, NDArray[np.int64]]:
        """Return the addresses that were found so far, by the number of the batch."""
        return self._addresses.copy()  # other threads may be finding more

    def _cache_columns(self, batch: int) -> list[pa.Array]:
        columns: list[pa.Array] = self.batches[batch].columns
        if (len(self._columns) + 1) * len(columns) > _MAX_CACHED_ARRAYS:
            self._columns = {}  # anew rather than the oldest out: other threads may be reading
        self._columns[batch] = columns
        return columns
