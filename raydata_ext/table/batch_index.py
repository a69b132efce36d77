"""Find rows in the record batches of one opened table."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from raydata_ext.table.layouts import Layout

_MAX_CACHED_ARRAYS = 4096


class BatchIndex:
    """The record batches of a table, and in which of them each row is.

    What costs time per batch (its columns as Python objects, the addresses of its buffers, its size) is found when a
    batch is first touched, and kept.

    Args:
        table: the table. Its rows stay where they are.
    """

    def __init__(self, table: pa.Table) -> None:
        self.batches: list[pa.RecordBatch] = [batch for batch in table.to_batches() if batch.num_rows]
        self._names: list[str] = table.column_names
        self._starts = [0, *accumulate(batch.num_rows for batch in self.batches)]
        self._start_array = np.array(self._starts, np.int64)
        self._columns: dict[int, list[pa.Array]] = {}
        self._lock = Lock()
        self._addresses: NDArray[np.int64] | None = None
        self._addressed = np.zeros(len(self.batches), bool)
        self._bytes: list[int] | None = None

    def locate(self, row: int) -> tuple[int, int]:
        """Return the number of the batch that a row is in, and the place of the row in it."""
        batch = bisect_right(self._starts, row) - 1
        return batch, row - self._starts[batch]

    def locate_all(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Do the same for many rows; int64, shape (n,) in and out."""
        batches = self._start_array.searchsorted(rows, side="right") - 1
        return batches, rows - self._start_array.take(batches)

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

    def addresses(self, batches: NDArray[np.int64], layouts: Sequence[Layout | None]) -> NDArray[np.int64]:
        """Return where the buffers of batches are.

        Args:
            batches: numbers of batches; int64, shape (n,).
            layouts: layout of each column; a column whose layout is None is left out.

        Returns:
            The addresses of all columns one after another; int64, shape (n, sum of the sizes of the layouts).
        """
        if self._addresses is None or not self._addressed.take(batches).all():
            with self._lock:
                found = self._find_addresses(batches, layouts)
        else:
            found = self._addresses
        return found.take(batches, axis=0)

    def _find_addresses(self, batches: NDArray[np.int64], layouts: Sequence[Layout | None]) -> NDArray[np.int64]:
        """Find the addresses of those batches for which this was not done, and return those of all batches."""
        if self._addresses is None:
            width = sum(layout.size for layout in layouts if layout is not None)
            self._addresses = np.zeros((len(self.batches), width), np.int64)
        for number in np.unique(batches[~self._addressed.take(batches)]).tolist():
            self._addresses[number] = [
                address
                for column, layout in zip(self.batches[number].columns, layouts, strict=True)
                if layout is not None
                for address in layout.addresses(column)
            ]
            self._addressed[number] = True
        return self._addresses

    def _cache_columns(self, batch: int) -> list[pa.Array]:
        columns: list[pa.Array] = self.batches[batch].columns
        while self._columns and (len(self._columns) + 1) * len(columns) > _MAX_CACHED_ARRAYS:
            self._columns.pop(next(iter(self._columns)), None)
        self._columns[batch] = columns
        return columns
