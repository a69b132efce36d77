"""Find rows that lie in many record batches, and copy them to one contiguous batch."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from raydata_ext.table.ascending_search import AscendingSearch
from raydata_ext.table.combine import join_arrays
from raydata_ext.table.layout import FoundValues, Layout, OffsetOverflowError, Values
from raydata_ext.table.layouts import MAX_OFFSET
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
        self._starts_search = AscendingSearch(self._starts)
        self._addresses = np.zeros((sum(layout.size for layout in layouts if layout), len(self.batches)), np.int64)
        self._known = np.zeros(len(self.batches), np.bool_)
        self._lock = Lock()
        for part, end in zip(self._parts, self._part_ends.tolist(), strict=True):
            known = part.known_addresses()
            if known:
                numbers = np.fromiter(known, np.int64) + (end - len(part.batches))
                self._addresses[:, numbers] = np.stack(list(known.values()), axis=1)
                self._known[numbers] = True

    def find(self, rows: NDArray[np.int64]) -> tuple[Places, NDArray[np.bool_]]:
        """Find rows by number.

        Args:
            rows: numbers of rows; int64, shape (n,).

        Returns:
            Where they are, and for each whether it is in a part that is open (else its place means nothing).
        """
        batches = self._starts_search.last_not_above(rows)
        places = Places(batches, rows - self._starts.take(batches))
        return places, (places.rows >= 0) & (rows < self._ends.take(batches))

    def addresses(self, batches: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the addresses of the buffers of all batches; those of the given ones are found.

        Args:
            batches: numbers of batches; int64, shape (n,).

        Returns:
            int64, shape (sum of the sizes of layouts, number of all batches).
        """
        if not (self._known.all() or self._known.take(batches).all()):
            with self._lock:
                for number in np.unique(batches[~self._known.take(batches)]).tolist():
                    part = int(self._part_ends.searchsorted(number, side="right"))
                    first = int(self._part_ends[part]) - len(self._parts[part].batches)
                    self._addresses[:, number] = self._parts[part].find_addresses(number - first, self.layouts)
                    self._known[number] = True
        return self._addresses


class FoundRows:
    """Rows that were found, and of which runs can be copied; it keeps the parts open that they are in.

    Args:
        schema: the schema of the rows.
        index: the record batches.
        places: where the rows are.
    """

    def __init__(self, schema: pa.Schema, index: GatherIndex, places: Places) -> None:
        self._schema = schema
        self._index = index
        self._places = places
        addresses = index.addresses(places.batches)
        self._columns: list[FoundValues] = []
        first = 0
        for number, layout in enumerate(index.layouts):
            if layout is None:
                self._columns.append(self._find_one_by_one(number))
            else:
                stop = first + layout.size
                self._columns.append(layout.find(Values(addresses[first:stop], places.batches, places.rows)))
                first = stop

    def num_bytes(self) -> NDArray[np.int64]:
        """Return how many bytes each row takes, about; int64, shape (n,)."""
        total = np.zeros(len(self._places.rows), np.int64)
        for column in self._columns:
            total += column.num_bytes()
        return total

    def copy(self, start: int, stop: int, max_offset: int) -> pa.Table:
        """Copy the rows from start up to stop to a table of one contiguous batch.

        Args:
            start: the first of the found rows to copy.
            stop: the one before which to end.
            max_offset: most bytes of strings or items of lists in an array with 32-bit offsets. Where there are more,
                the table has several batches, and the same types.
        """
        if not self._columns:
            return rows_without_columns(stop - start, self._schema.metadata)
        try:
            return self._copy(start, stop, max_offset)
        except OffsetOverflowError:
            if stop - start == 1:  # nothing to split: the row is in such an array already
                return self._copy(start, stop, MAX_OFFSET)
            middle = (start + stop) // 2
            return pa.concat_tables([self.copy(start, middle, max_offset), self.copy(middle, stop, max_offset)])

    def _copy(self, start: int, stop: int, max_offset: int) -> pa.Table:
        columns = [column.copy(start, stop, max_offset) for column in self._columns]
        return pa.Table.from_arrays(columns, schema=self._schema)

    def _find_one_by_one(self, number: int) -> FoundValues:
        """Find the values of a column whose type has no layout."""
        batches = self._index.batches

        def copy(start: int, stop: int, max_offset: int) -> pa.ChunkedArray:
            places = zip(self._places.batches[start:stop].tolist(), self._places.rows[start:stop].tolist(), strict=True)
            values = [batches[batch].column(number).slice(row, 1) for batch, row in places]
            return pa.chunked_array(join_arrays(values, max_offset=max_offset))

        def num_bytes() -> NDArray[np.int64]:
            touched, positions = np.unique(self._places.batches, return_inverse=True)
            columns = [batches[batch].column(number) for batch in touched.tolist()]
            sizes = np.array([_num_bytes(column) // len(column) for column in columns], np.int64)
            return sizes.take(positions)

        return FoundValues(copy, num_bytes)


def _num_bytes(array: pa.Array) -> int:
    try:
        return int(array.nbytes)
    except pa.ArrowException:  # older pyarrow cannot tell what a view refers to
        return int(array.get_total_buffer_size())
