"""The columns of several nodes side by side: row i of each makes row i of the whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from typing_extensions import override

from raydata_ext.errors import SchemaError
from raydata_ext.streaming.nodes.base import Bases, Cursor, Node
from raydata_ext.streaming.nodes.every_nth import EveryNth
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.row_reader import RowReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raydata_ext.streaming.seeds import Seed


@dataclass(frozen=True, eq=False)
class SideBySide(Node):
    """Parts that have equally many rows, in an order that nothing changes in one of them alone.

    Attributes:
        parts: the nodes; no two may have a column of the same name.
    """

    parts: tuple[Node, ...]

    @property
    @override
    def children(self) -> tuple[Node, ...]:
        return self.parts

    @override
    def with_children(self, children: Sequence[Node]) -> SideBySide:
        return SideBySide(tuple(children))

    @property
    @override
    def num_shards(self) -> int:
        return 1

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
    def shuffle_data_sources(self, seed: Seed) -> SideBySide:
        return self

    @override
    def shard_data_sources(self, count: int, index: int, *, contiguous: bool = False) -> SideBySide:
        return self

    @override
    def reshard_data_sources(self, count: int | None = None) -> SideBySide:
        return self

    @override
    def split(self, count: int, index: int) -> SideBySide:
        return SideBySide(tuple(EveryNth(part, count, index) for part in self.parts))

    @override
    def shift_seeds(self, by: int) -> SideBySide:
        return self

    @override
    def open(self, bases: Bases | None) -> SideBySideCursor:
        return SideBySideCursor([RowReader(open_rows(part, None)) for part in self.parts])


class SideBySideCursor(Cursor):
    """A pass over all parts at once.

    Args:
        parts: the rows of each.
    """

    def __init__(self, parts: Sequence[RowReader]) -> None:
        self._parts = parts

    @override
    def next(self) -> pa.RecordBatch | None:
        available = [part.available() for part in self._parts]
        rows = min(available)
        if rows == 0 and any(available):
            short = available.index(0)
            raise SchemaError(f"streams side by side: part {short} has ended, and others have more rows")
        return _joined([part.take(rows) for part in self._parts]) if rows else None

    @override
    def state(self) -> dict[str, Any]:
        return {"parts": [part.state() for part in self._parts]}

    @override
    def load(self, state: dict[str, Any]) -> None:
        for part, saved in zip(self._parts, state["parts"], strict=True):
            part.load(saved)


def _joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    names = [name for batch in batches for name in batch.schema.names]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SchemaError(f"streams side by side: more than one has a column {twice!r}; rename or remove it")
    return pa.RecordBatch.from_arrays([column for batch in batches for column in batch.columns], names=names)
