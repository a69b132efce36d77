"""From a row's number in a shard back to the file it was read from, for messages."""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

import numpy as np

from raydata_ext.engine.chunk import Chunk, Origins

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa


class Trail:
    """Remembers, while a shard is read, which rows came from which piece."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._labels: list[str] = []
        self._left_out: list[int] = []  # numbers of unreadable rows among those that are read next
        self.rows_read = 0

    def follow(self, batches: Iterable[tuple[str, pa.RecordBatch]], numbers: Origins | None = None) -> Iterator[Chunk]:
        """Number the rows of a shard as they are read.

        Args:
            batches: (label of the piece that the rows come from, rows).
            numbers: of all rows that come, where rows of the shard are lacking among them; None is from 0 on.
        """
        for label, batch in batches:
            self._enter(label)
            start, taken = self.rows_read, self._take_numbers(batch.num_rows)
            yield Chunk(batch, taken if numbers is None else numbers[start : start + batch.num_rows])

    def leave_out(self, label: str, row: int) -> None:
        """Count a row that cannot be read. To be called before the rows that follow it are read.

        Args:
            label: the piece that it is from.
            row: its number there, rows that cannot be read included.
        """
        self._enter(label)
        self._left_out.append(self._starts[-1] + row)
        self.rows_read += 1

    def place(self, origins: Origins) -> str:
        """The file and the row, or the range of rows, that rows were read from."""
        if not len(origins):
            return f"{self._labels[-1]}: no rows" if self._labels else "no rows"
        (first_label, first), (last_label, last) = self.find(int(origins[0])), self.find(int(origins[-1]))
        if first_label != last_label:
            return f"{first_label}: row {first} to {last_label}: row {last}"
        return f"{first_label}: row {first}" if first == last else f"{first_label}: rows {first} to {last}"

    def _enter(self, label: str) -> None:
        if not self._labels or self._labels[-1] != label:
            self._starts.append(self.rows_read)
            self._labels.append(label)
            self._left_out.clear()

    def _take_numbers(self, count: int) -> Origins:
        """The next numbers that are not left out."""
        first = self.rows_read - len(self._left_out)
        self.rows_read += count
        if not self._left_out:
            return np.arange(first, first + count, dtype=np.int64)
        numbers = np.arange(first, self.rows_read, dtype=np.int64)
        numbers = numbers[~np.isin(numbers, self._left_out)][:count]
        self._left_out = [number for number in self._left_out if count == 0 or number > numbers[-1]]
        return numbers

    def find(self, origin: int) -> tuple[str, int]:
        """The piece that a row was read from and its number in there."""
        piece = bisect.bisect_right(self._starts, origin) - 1
        # Pieces without rows begin where the next one does; bisecting to the right passes them.
        return self._labels[piece], origin - self._starts[piece]
