"""The columns of several nodes side by side: row i of each makes row i of the whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from typing_extensions import override

from raydata_ext.errors import SchemaError
from raydata_ext.streaming.nodes.base import Bases, Joined, JoinedCursor
from raydata_ext.streaming.nodes.every_nth import EveryNth, FixedOrder
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.row_reader import RowReader

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, eq=False)
class SideBySide(FixedOrder, Joined):
    """Parts that have equally many rows, in an order that nothing changes in one of them alone.

    No two may have a column of the same name.
    """

    @property
    @override
    def num_rows(self) -> int | None:
        return self.parts[0].num_rows

    @property
    @override
    def schema(self) -> pa.Schema | None:
        schemas = [part.schema for part in self.parts]
        return None if None in schemas else pa.schema([field for schema in schemas for field in schema or ()])

    @override
    def split(self, count: int, index: int) -> SideBySide:
        return SideBySide(tuple(EveryNth(part, count, index) for part in self.parts))

    @override
    def open(self, bases: Bases | None) -> SideBySideCursor:
        return SideBySideCursor([RowReader(open_rows(part, None)) for part in self.parts])


class SideBySideCursor(JoinedCursor):
    """A pass over all parts at once."""

    @override
    def next(self) -> pa.RecordBatch | None:
        available = [part.available() for part in self._inputs]
        rows = min(available)
        if rows == 0 and any(available):
            short = available.index(0)
            raise SchemaError(f"streams side by side: part {short} has ended, and others have more rows")
        return _joined([part.take(rows) for part in self._inputs]) if rows else None


def _joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    names = [name for batch in batches for name in batch.schema.names]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SchemaError(f"streams side by side: more than one has a column {twice!r}; rename or remove it")
    return pa.RecordBatch.from_arrays([column for batch in batches for column in batch.columns], names=names)
