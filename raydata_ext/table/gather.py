"""Copy rows that lie in many record batches to one contiguous batch."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from raydata_ext.table.combine import join_arrays
from raydata_ext.table.layouts import MAX_OFFSET, Layout, OffsetOverflowError
from raydata_ext.table.rows_without_columns import rows_without_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from raydata_ext.table.batch_index import BatchIndex


@dataclass(frozen=True)
class Places:
    """Where rows are.

    Args:
        batches: for each row the number of the record batch that it is in; int64, shape (n,).
        rows: for each row its place in that batch; int64, shape (n,).
    """

    batches: NDArray[np.int64]
    rows: NDArray[np.int64]

    def between(self, start: int, stop: int) -> Places:
        """Return the places from start up to stop."""
        return Places(self.batches[start:stop], self.rows[start:stop])


class GatherIndex:
    """The record batches of all open parts of a table in one sequence, and the addresses of their buffers.

    So any rows are found with one search, however many parts they are in. Addresses are found when a batch is first
    touched.

    Args:
        parts: the parts that are open, by the number of their first row.
        layouts: layout of each column; None for a type whose rows cannot be found by address alone.
    """

    def __init__(self, parts: Mapping[int, BatchIndex], layouts: Sequence[Layout | None]) -> None:
        self.parts = dict(sorted(parts.items()))
        self.layouts = layouts
        self.batches = [batch for part in self.parts.values() for batch in part.batches]
        self._parts = list(self.parts.values())
        self._part_ends = np.cumsum([len(part.batches) for part in self._parts])
        starts = [np.array(part.starts, np.int64) + first for first, part in self.parts.items()]
        self._starts = np.concatenate([of_part[:-1] for of_part in starts])
        self._ends = np.concatenate([of_part[1:] for of_part in starts])
        self._addresses = np.zeros((len(self.batches), sum(layout.size for layout in layouts if layout)), np.int64)
        self._known = np.zeros(len(self.batches), bool)
        self._lock = Lock()
        for part, end in zip(self._parts, self._part_ends.tolist(), strict=True):
            known = part.known_addresses()
            if known:
                numbers = np.fromiter(known, np.int64) + (end - len(part.batches))
                self._addresses[numbers] = list(known.values())
                self._known[numbers] = True

    def find(self, rows: NDArray[np.int64]) -> tuple[Places, NDArray[np.bool_]]:
        """Find rows by number.

        Args:
            rows: numbers of rows; int64, shape (n,).

        Returns:
            Where they are, and for each whether it is in a part that is open (else its place means nothing).
        """
        batches = self._starts.searchsorted(rows, side="right") - 1
        return Places(batches, rows - self._starts.take(batches)), (batches >= 0) & (rows < self._ends.take(batches))

    def addresses(self, batches: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the addresses of the buffers of batches; int64, shapes (n,) and (n, sum of the sizes of layouts)."""
        if not self._known.take(batches).all():
            with self._lock:
                for number in np.unique(batches[~self._known.take(batches)]).tolist():
                    part = int(self._part_ends.searchsorted(number, side="right"))
                    first = int(self._part_ends[part]) - len(self._parts[part].batches)
                    self._addresses[number] = self._parts[part].find_addresses(number - first, self.layouts)
                    self._known[number] = True
        return self._addresses.take(batches, axis=0)


def gather_table(schema: pa.Schema, index: GatherIndex, places: Places, max_offset: int = MAX_OFFSET) -> pa.Table:
    """Copy rows to a table of one contiguous batch.

    Args:
        schema: the schema of the rows.
        index: the record batches.
        places: where the rows are.
        max_offset: most bytes of strings or items of lists in an array with 32-bit offsets. Where there are more, the
            table has several batches, and the same types.
    """
    num_rows = len(places.rows)
    try:
        return _gather_batch(schema, index, places, max_offset)
    except OffsetOverflowError:
        if num_rows == 1:  # nothing to split: the row is in such an array already
            return _gather_batch(schema, index, places, MAX_OFFSET)
        halves = (places.between(0, num_rows // 2), places.between(num_rows // 2, num_rows))
        return pa.concat_tables([gather_table(schema, index, half, max_offset) for half in halves])


def _gather_batch(schema: pa.Schema, index: GatherIndex, places: Places, max_offset: int) -> pa.Table:
    if not index.layouts:
        return rows_without_columns(len(places.rows), schema.metadata)
    addresses = index.addresses(places.batches)
    columns = []
    first = 0
    for number, layout in enumerate(index.layouts):
        if layout is None:
            columns.append(_join_rows(number, index, places, max_offset))
        else:
            columns.append(layout.gather(addresses[:, first : first + layout.size], places.rows, max_offset))
            first += layout.size
    return pa.Table.from_arrays(columns, schema=schema)


def _join_rows(column: int, index: GatherIndex, places: Places, max_offset: int) -> pa.ChunkedArray:
    """Copy one column row by row: for types whose rows cannot be found by address alone."""
    rows = [
        index.batches[batch].column(column).slice(row, 1)
        for batch, row in zip(places.batches.tolist(), places.rows.tolist(), strict=True)
    ]
    return pa.chunked_array(join_arrays(rows, max_offset=max_offset))
