"""From references to rows: the place where a stream that has been ordered on references reads its rows."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from raydata_ext.streaming.nodes.base import Bases, Cursor, Node
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.rows import BATCH_ROWS, References, batch_of_table
from raydata_ext.table import Table, concat_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

_FEW_ROWS = BATCH_ROWS // 8
"""Record batches of fewer rows are put together: handing them on would cost more than the copy."""


def open_rows(node: Node, bases: Bases | None) -> Cursor:
    """Open a node: as references where bases are given, else as record batches, gathered late where possible."""
    if bases is not None or not node.indexed:
        return node.open(bases)
    tables = node.tables
    starts = accumulate((table.num_rows for table in tables[:-1]), initial=0)
    own_bases = dict(zip(map(id, tables), starts, strict=True))
    return GatherCursor(node.open(own_bases), TableRows(concat_tables(tables)).gather)


class GatherCursor(Cursor):
    """Record batches of the rows that another cursor refers to.

    All references of a piece are resolved before the next piece is asked for.

    Args:
        references: gives references.
        gather: gives the rows of some references, or of the first of them, as one record batch.
    """

    def __init__(self, references: Cursor, gather: Callable[[References], pa.RecordBatch]) -> None:
        self._references = RowReader(references)
        self._gather = gather

    @override
    def next(self) -> pa.RecordBatch | None:
        if not self._references.available():
            return None
        batch = self._gather(self._references.peek()[:BATCH_ROWS])
        self._references.start += batch.num_rows
        return batch

    @override
    def state(self) -> dict[str, Any]:
        return self._references.state()

    @override
    def load(self, state: dict[str, Any]) -> None:
        self._references.load(state)


class TableRows:
    """Rows of a table by reference.

    Args:
        table: reference i is its row i.
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    def gather(self, references: References) -> pa.RecordBatch:
        """The rows; where they lie next to one another, zero-copy those of them that are in one record batch."""
        first, last = int(references[0]), int(references[-1])
        is_run = last - first == len(references) - 1 and bool((references[1:] - references[:-1] == 1).all())
        if not is_run:
            return batch_of_table(self._table.fast_gather(references))
        table = self._table.fast_slice(first, len(references))
        batch = table.to_batches()[0]
        return batch if batch.num_rows >= min(_FEW_ROWS, len(references)) else batch_of_table(table)
