"""From references to rows: the place where a stream that has been ordered on references reads its rows."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from typing_extensions import override

from raydata_ext.errors import NoRoomError
from raydata_ext.streaming.nodes.base import Bases, Cursor, Node, State, StatelessCursor
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.rows import BATCH_ROWS, COPIED_BYTES, PIECE_ROWS, References, batch_of_table
from raydata_ext.table import Table, concat_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from raydata_ext.table.row_index import RowsToCopy

_FEW_ROWS = BATCH_ROWS // 8
"""Record batches of fewer rows are put together: handing them on would cost more than the copy."""

_FOUND_VALUES = 1 << 20
"""Of tables of very many columns, rows with so many values in all are found at a time."""


def open_rows(node: Node, bases: Bases | None) -> Cursor:
    """Open a node: as references where bases are given, else as record batches, gathered late where possible."""
    if bases is not None or not node.indexed:
        return node.open(bases)
    tables = node.tables
    return TableRows(node.open(table_bases(tables)), concat_tables(tables))


def table_bases(tables: Sequence[Table]) -> dict[int, int]:
    """References for the rows of tables, those of the first table first; see `Bases`."""
    starts = accumulate((table.num_rows for table in tables), initial=0)
    return dict(zip(map(id, tables), starts, strict=False))


class GatherCursor(StatelessCursor):
    """Record batches of the rows that another cursor refers to.

    All references of a piece are resolved before the next piece is asked for.

    Args:
        references: gives references.
        gather: gives the rows of some references, or of the first of them, as one record batch.
    """

    def __init__(self, references: Cursor, gather: Callable[[References], pa.RecordBatch]) -> None:
        super().__init__(RowReader(references))
        self._gather = gather

    @override
    def next(self) -> pa.RecordBatch | None:
        if not self._input.available():
            return None
        batch = self._gather(self._input.peek())
        self._input.start += batch.num_rows
        return batch


class TableRows(Cursor):
    """Record batches of the rows of a table that another cursor refers to.

    Args:
        references: gives references.
        table: reference i is its row i.

    Attributes:
        copied: whether the rows of the last piece were copied from all over the table; others are slices of it.
    """

    def __init__(self, references: Cursor, table: Table) -> None:
        self._input = RowReader(references)
        self._table = table
        self._most_rows = min(PIECE_ROWS, max(1, _FOUND_VALUES // max(1, table.num_columns)))
        self._before: State = None  # the position before the window
        self._window: References = np.empty(0, np.int64)  # references that were read
        self._done = 0  # of them
        self._rows: RowsToCopy | None = None  # of the window, once some are copied
        self.copied = False

    @override
    def next(self) -> pa.RecordBatch | None:
        """The next rows; where they lie next to one another, zero-copy those of them that are in one record batch."""
        return self.next_of(1)

    @override
    def next_of(self, multiple: int) -> pa.RecordBatch | None:
        if self._done == len(self._window) and not self._read_window(multiple):
            return None
        references = self._window[self._done : self._done + BATCH_ROWS]
        follows = references[1:] == references[:-1] + 1
        run = len(references) if follows.all() else int(follows.argmin()) + 1
        self.copied = run < min(_FEW_ROWS, len(references))
        batch = self._copy(multiple) if self.copied else self._slice(int(references[0]), run)
        self._done += batch.num_rows
        return batch

    @override
    def state(self) -> State:
        if self._done == len(self._window):
            return self._input.state()
        return {"at": self._before["at"], "rows": self._before["rows"] + self._done}

    @override
    def load(self, state: State) -> None:
        self._input.load(state)
        self._window, self._done, self._rows = self._window[:0], 0, None

    def _read_window(self, multiple: int) -> bool:
        """Read so many references that their rows can be handed out in multiples; false at the end."""
        before = self._input.state()
        count = self._most_rows // multiple * multiple or self._most_rows
        window = self._input.read(count)
        if window is None:
            return False
        self._before, self._window, self._done, self._rows = before, window, 0, None
        return True

    def _slice(self, first: int, count: int) -> pa.RecordBatch:
        table = self._table.fast_slice(first, count)
        batch = table.to_batches()[0]
        return batch if batch.num_rows >= min(_FEW_ROWS, count) else batch_of_table(table)

    def _copy(self, multiple: int) -> pa.RecordBatch:
        if self._rows is None:
            self._rows = self._table.find_rows(self._window)
        try:
            fit = self._rows.stop_within(self._done, COPIED_BYTES) - self._done
            stop = min(self._done + max(multiple, fit - fit % multiple), len(self._window))
            return batch_of_table(self._rows.copy(self._done, stop))
        except NoRoomError:
            self._rows = None
        return self._copy_file_by_file()

    def _copy_file_by_file(self) -> pa.RecordBatch:
        """Copy about as many rows where there is no room for all files that they are in; the first tells their size."""
        rest = self._window[self._done :]
        row_bytes = int(self._table.fast_gather(rest[:1]).nbytes)
        return batch_of_table(self._table.fast_gather(rest[: max(1, COPIED_BYTES // max(1, row_bytes))]))
