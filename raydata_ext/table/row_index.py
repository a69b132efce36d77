"""Find rows by their number: one row, a run of rows, or any rows in any order.

A table may have many parts (the shards of a data set), each in its own file. A part is opened when a row of it is first
asked for, and of those that are fetched for that, a few at the same time. A number of opened parts are kept, the least
recently used are let go.
"""

from __future__ import annotations

import contextlib
import logging
import weakref
from bisect import bisect_right
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from threading import Lock
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import pyarrow as pa

from raydata_ext.errors import NoRoomError
from raydata_ext.table.batch_index import BatchIndex
from raydata_ext.table.gather import FoundRows, GatherIndex, Places
from raydata_ext.table.layouts import MAX_OFFSET, layout_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

_log = logging.getLogger(__name__)

_MAX_OPEN_BATCHES = 65_536  # a record batch of three columns takes some 2 kB

_FETCHED_AT_A_TIME = 4
"""Each takes a buffer of some megabytes."""

_holders: weakref.WeakSet[RowIndex | RowsToCopy] = weakref.WeakSet()  # those that hold on to opened parts
_holders_lock = Lock()


def let_go_of_parts() -> bool:
    """Let go of all parts that tables of this process keep open; they are opened again when they are needed.

    Returns:
        Whether there were any.
    """
    with _holders_lock:
        holders = list(_holders)
    return any([holder.let_go() for holder in holders])  # noqa: C419 - all of them, not up to the first that had some


class RowIndex:
    """Rows of a table of one or more parts, by number.

    Args:
        schema: the schema of the table.
        part_rows: how many rows each part has.
        open_part: gives a part, by its number, as a table of this schema and of so many rows.
        is_remote: tells whether a part may have to be fetched from another machine to be opened.
    """

    def __init__(
        self,
        schema: pa.Schema,
        part_rows: Sequence[int],
        open_part: Callable[[int], pa.Table],
        is_remote: Callable[[int], bool] = lambda _: False,
    ) -> None:
        self.schema = schema
        self._open_part = open_part
        self._is_remote = is_remote
        self._num_parts = len(part_rows)
        self._starts = [0, *accumulate(part_rows)]
        self._parts: OrderedDict[int, BatchIndex] = OrderedDict()
        self._open_batches = 0
        self._part_bytes: dict[int, int] = {}
        self._lock = Lock()
        self._gather_index: GatherIndex | None = None

    @classmethod
    def of_table(cls, table: pa.Table) -> RowIndex:
        """Return the index of one table."""
        return cls(table.schema, [table.num_rows], lambda _: table)

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self._starts[-1]

    def locate(self, row: int) -> tuple[pa.RecordBatch, int]:
        """Return the record batch that a row is in, and the place of the row in it.

        Raises:
            IndexError: there is no such row; negative numbers are not counted from the end.
        """
        self._require_row(row)
        number = self._part_of(row)
        part = self._part(number)
        batch, place = part.locate(row - self._starts[number])
        return part.batches[batch], place

    def row(self, row: int) -> dict[str, Any]:
        """Return one row as a dict of Python values.

        Raises:
            IndexError: there is no such row; negative numbers are not counted from the end.
        """
        self._require_row(row)
        number = self._part_of(row)
        return self._part(number).row(row - self._starts[number])

    def fast_slice(self, offset: int = 0, length: int | None = None) -> pa.Table:
        """Return a run of rows as a table, zero-copy; copied where there is no room for all files that they are in.

        Args:
            offset: first row, not negative.
            length: how many rows; what passes the end is left out. None is up to the end.

        Raises:
            IndexError: the offset is negative.
        """
        start, stop = clip_window(offset, length, self.num_rows)
        spans = list(self.spans(start, stop))
        if len(spans) == 1:
            [(number, begin, end)] = spans
            return pa.Table.from_batches(list(self._part(number).slice(begin, end)), schema=self.schema)
        with contextlib.suppress(NoRoomError):
            parts = self._open([number for number, _, _ in spans])
            batches = [batch for part, span in zip(parts, spans, strict=True) for batch in part.slice(*span[1:])]
            return pa.Table.from_batches(batches, schema=self.schema)
        return self._gather_part_by_part(np.arange(start, stop), MAX_OFFSET)  # out of the clause: it holds on to files

    def fast_gather(
        self,
        indices: Iterable[SupportsIndex] | NDArray[np.integer[Any]],
        *,
        start: int = 0,
        stop: int | None = None,
        max_offset: int = MAX_OFFSET,
    ) -> pa.Table:
        """Return rows in the order of the indices, duplicates included, copied to one contiguous batch.

        Args:
            indices: numbers of rows, at least one: an integer array of shape (n,), a range, or any iterable of ints.
            start: the row that index 0 stands for.
            stop: the row before which indices must end; None is the number of rows.
            max_offset: most bytes of strings or items of lists in an array with 32-bit offsets. Rows with more come in
                several batches; the types stay.

        Raises:
            IndexError: there is no such row; negative numbers are not counted from the end.
            ValueError: there are no indices.
        """
        rows = _as_row_numbers(indices, (self.num_rows if stop is None else stop) - start) + start
        try:
            return self.find(rows).copy(0, len(rows), max_offset)
        except NoRoomError:
            if len(np.unique(self._parts_of(rows))) == 1:
                raise
        return self._gather_part_by_part(rows, max_offset)  # out of the clause, which holds on to files

    def find_rows(self, rows: NDArray[np.int64], *, start: int = 0, stop: int | None = None) -> RowsToCopy:
        """Return rows, any run of which can be copied; see `fast_gather`."""
        return RowsToCopy(self, _as_row_numbers(rows, (self.num_rows if stop is None else stop) - start) + start)

    def find(self, rows: NDArray[np.int64]) -> FoundRows:
        """Find rows by number, int64 of shape (n,), and open the parts that they are in."""
        return FoundRows(self.schema, *self._find_all(rows))

    def iter_batches(self, start: int, stop: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows from start up to stop in the record batches that they are in, one part open at a time."""
        for number, begin, end in self.spans(start, stop):
            yield from self._part(number, keep=False).slice(begin, end)

    def spans(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """Yield (part, first row in it, end row in it) of each part that holds rows from start up to stop."""
        number = self._part_of(start)
        while start < stop:
            end = min(stop, self._starts[number + 1])
            if end > start:
                yield number, start - self._starts[number], end - self._starts[number]
            start = end
            number += 1

    def nbytes(self, start: int, stop: int) -> int:
        """Return the bytes of the rows from start up to stop; opens every part that holds some of them."""
        total = 0
        for number, begin, end in self.spans(start, stop):
            if self._num_parts > 1 and end - begin == self._starts[number + 1] - self._starts[number]:
                if number not in self._part_bytes:
                    self._part_bytes[number] = int(self._open_part(number).nbytes)
                total += self._part_bytes[number]
            else:
                total += self._part(number).nbytes(begin, end)
        return total

    def let_go(self) -> bool:
        """Let go of all parts that are kept open; false if there are none."""
        with self._lock:
            had_some = bool(self._parts) or self._gather_index is not None
            self._parts = OrderedDict()
            self._open_batches = 0
            self._gather_index = None
        return had_some

    def _require_row(self, row: int) -> None:
        if not 0 <= row < self._starts[-1]:
            raise IndexError(f"row {row} is out of range for a table of {self._starts[-1]} rows")

    def _part_of(self, row: int) -> int:
        return bisect_right(self._starts, row) - 1

    def _open(self, numbers: Sequence[int]) -> list[BatchIndex]:
        """Return parts that are all open at once."""
        fetched = [number for number in numbers if number not in self._parts and self._is_remote(number)]
        if len(fetched) <= 1:
            return [self._part(number) for number in numbers]
        threads = ThreadPoolExecutor(_FETCHED_AT_A_TIME, thread_name_prefix="fetch")
        try:
            return list(threads.map(self._part, numbers))
        finally:
            threads.shutdown(cancel_futures=True)

    def _part(self, number: int, *, keep: bool = True) -> BatchIndex:
        """Return an opened part; `keep` says whether to hold on to one that has just been opened."""
        with self._lock:
            part = self._parts.get(number)
            if part is not None:
                self._parts.move_to_end(number)
                return part
        part = BatchIndex(self._open_part(number))
        if keep:
            self._keep(number, part)
        return part

    def _keep(self, number: int, part: BatchIndex) -> None:
        with self._lock:
            if number in self._parts:  # another thread was faster
                return
            self._parts[number] = part
            _add_holder(self)
            self._open_batches += len(part.batches)
            while self._open_batches > _MAX_OPEN_BATCHES and len(self._parts) > 1:
                _, oldest = self._parts.popitem(last=False)
                self._open_batches -= len(oldest.batches)

    def _gather_part_by_part(self, rows: NDArray[np.int64], max_offset: int) -> pa.Table:
        """Copy rows where there is no room for all files that they are in: from one part after the other.

        Args:
            rows: numbers of rows; int64, shape (n,).
            max_offset: see `fast_gather`.
        """
        _log.info("%d rows are copied, since there is no room for all files that they are in", len(rows))
        numbers = self._parts_of(rows)
        order = np.argsort(numbers, kind="stable")
        runs = np.split(rows[order], np.flatnonzero(np.diff(numbers[order])) + 1)
        copied = pa.concat_tables([self.fast_gather(run, max_offset=max_offset) for run in runs])
        if (order[:-1] < order[1:]).all():
            return copied
        return RowIndex.of_table(copied).fast_gather(np.argsort(order), max_offset=max_offset)

    def _parts_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        numbers: NDArray[np.int64] = np.searchsorted(self._starts, rows, side="right") - 1
        return numbers

    def _find_all(self, rows: NDArray[np.int64]) -> tuple[GatherIndex, Places]:
        """Find many rows, int64 of shape (n,), and open the parts that they are in."""
        before = self._gather_index
        if before is not None:
            places, found = before.find(rows)
            if found.all():
                return before, places
        numbers = np.unique(self._parts_of(rows)).tolist()
        opened = {} if before is None else before.parts
        parts = {first: opened[first] for number in numbers if (first := self._starts[number]) in opened}
        before, opened = None, {}  # the others may be let go
        missing = [number for number in numbers if self._starts[number] not in parts]
        parts.update((self._starts[number], part) for number, part in zip(missing, self._open(missing), strict=True))
        with self._lock:
            parts.update((self._starts[number], part) for number, part in self._parts.items())
        layouts = [layout_of(field.type) for field in self.schema]
        self._gather_index = index = GatherIndex(parts, layouts)
        return index, index.find(rows)[0]


class RowsToCopy:
    """Rows of a table, in an order of their own, of which any run can be copied.

    They are found once. Where room is needed for other files, it lets go of its own as the index does, and finds the
    rows again.

    Args:
        index: the table.
        rows: numbers of the rows; int64, shape (n,), n at least 1.
    """

    def __init__(self, index: RowIndex, rows: NDArray[np.int64]) -> None:
        self._index = index
        self._rows = rows
        self._found: FoundRows | None = None
        self._ends: NDArray[np.int64] | None = None  # of each row, where those up to it lie one after the other

    def stop_within(self, start: int, max_bytes: int) -> int:
        """Return how far rows can be copied within so many bytes, about; one row always can.

        Args:
            start: number of the first, among these rows.
            max_bytes: the bytes.

        Raises:
            NoRoomError: there is no room for all files that the rows are in.
        """
        if self._ends is None:
            self._ends = np.cumsum(self._find().num_bytes())
        before = int(self._ends[start - 1]) if start else 0
        return max(start + 1, int(self._ends.searchsorted(before + max_bytes, side="right")))

    def copy(self, start: int, stop: int) -> pa.Table:
        """Copy the rows from start up to stop to one contiguous batch, or to several as `fast_gather` does.

        Raises:
            NoRoomError: there is no room for all files that the rows are in.
        """
        return self._find().copy(start, stop, MAX_OFFSET)

    def let_go(self) -> bool:
        """Let go of all parts that are kept open; false if there are none."""
        had_some, self._found = self._found is not None, None
        return had_some

    def _find(self) -> FoundRows:
        found = self._found
        if found is None:
            found = self._found = self._index.find(self._rows)
            _add_holder(self)
        return found


def clip_window(offset: int, length: int | None, num_rows: int) -> tuple[int, int]:
    """Return (start, stop) of the rows that a slice takes of a table of `num_rows`.

    Raises:
        IndexError: the offset is negative.
    """
    if offset < 0:
        raise IndexError(f"the offset of a slice must not be negative, but is {offset}")
    start = min(offset, num_rows)
    stop = num_rows if length is None else min(start + max(length, 0), num_rows)
    return start, stop


def _add_holder(holder: RowIndex | RowsToCopy) -> None:
    with _holders_lock:
        _holders.add(holder)


def _as_row_numbers(indices: Iterable[SupportsIndex] | NDArray[np.integer[Any]], num_rows: int) -> NDArray[np.int64]:
    array = np.asarray(indices if isinstance(indices, np.ndarray | list | tuple | range) else list(indices))
    if array.size == 0:
        raise ValueError("fast_gather needs at least one index; for no rows take fast_slice(0, 0)")
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"indices must be integers in one dimension, not {array.dtype} of shape {array.shape}")
    lowest, highest = int(array.min()), int(array.max())
    if lowest < 0 or highest >= num_rows:
        wrong = lowest if lowest < 0 else highest
        raise IndexError(f"row {wrong} is out of range for a table of {num_rows} rows")
    return array.astype(np.int64, copy=False)
