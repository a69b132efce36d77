"""From references to rows: the place where a stream that has been ordered on references reads its rows."""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from typing_extensions import override

from raydata_ext.streaming.nodes.base import Bases, Cursor, Node, StatelessCursor
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.rows import BATCH_ROWS, PIECE_ROWS, References, batch_of_table
from raydata_ext.table import Table, concat_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

_FEW_ROWS = BATCH_ROWS // 8
"""Record batches of fewer rows are put together: handing them on would cost more than the copy."""

_GATHERED_BYTES = 16 << 20
"""Rows are copied from all over the tables so many bytes at a time, about."""

_SAMPLES = 8
_SAMPLED_ROWS = 16
"""So many runs of so many rows tell how large rows are."""


def open_rows(node: Node, bases: Bases | None) -> Cursor:
    """Open a node: as references where bases are given, else as record batches, gathered late where possible."""
    if bases is not None or not node.indexed:
        return node.open(bases)
    tables = node.tables
    return GatherCursor(node.open(table_bases(tables)), TableRows(concat_tables(tables)).gather)


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


class TableRows:
    """Rows of a table by reference.

    Args:
        table: reference i is its row i.
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    def gather(self, references: References) -> pa.RecordBatch:
        """The first rows; where they lie next to one another, zero-copy those of them that are in one record batch."""
        follows = references[1:] == references[:-1] + 1
        run = len(references) if follows.all() else int(follows.argmin()) + 1
        if run < min(_FEW_ROWS, len(references)):
            return batch_of_table(self._table.fast_gather(references[: self._most_rows]))
        table = self._table.fast_slice(int(references[0]), min(run, BATCH_ROWS))
        batch = table.to_batches()[0]
        return batch if batch.num_rows >= min(_FEW_ROWS, table.num_rows) else batch_of_table(table)

    @cached_property
    def _most_rows(self) -> int:
        """Rows that are gathered at a time: the more, the less the calls cost; told by the sizes of some rows."""
        total = self._table.num_rows
        rows = min(_SAMPLED_ROWS, total)
        starts = np.linspace(0, total - rows, _SAMPLES).astype(np.int64).tolist()  # files may be sorted by length
        row_bytes = sum(int(self._table.fast_slice(start, rows).nbytes) for start in starts) // (rows * _SAMPLES)
        return min(PIECE_ROWS, max(1, _GATHERED_BYTES // max(1, row_bytes)))
