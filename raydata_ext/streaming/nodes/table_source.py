"""Rows of a table: the source whose rows can be referred to, so that order costs eight bytes a row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.streaming.nodes.base import Bases, Cursor, Node
from raydata_ext.streaming.order import dealt, even_cuts, permutation
from raydata_ext.streaming.rows import PIECE_ROWS, References

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from raydata_ext.streaming.identity import TableIdentity
    from raydata_ext.streaming.seeds import Seed
    from raydata_ext.table import Table


@dataclass(frozen=True, eq=False)
class TableSource(Node):
    """Shards that are runs of rows of one table.

    Attributes:
        table: the rows.
        runs: first row and end row of each shard, in the order in which they are read; int64, shape (shards, 2).
        identity: tells what the rows are.
    """

    table: Table
    runs: References
    identity: TableIdentity

    orders_only = True

    @property
    @override
    def num_shards(self) -> int:
        return len(self.runs)

    @property
    @override
    def num_rows(self) -> int:
        return int((self.runs[:, 1] - self.runs[:, 0]).sum())

    @property
    @override
    def schema(self) -> pa.Schema:
        return self.table.schema

    @property
    @override
    def settings(self) -> Mapping[str, Any]:
        return {"data": self.identity.digest, "num_shards": self.num_shards}

    @override
    def shuffle_data_sources(self, seed: Seed) -> TableSource:
        return self._of(self.runs[permutation(len(self.runs), seed)])

    @override
    def shard_data_sources(self, count: int, index: int, *, contiguous: bool = False) -> TableSource:
        mine = dealt(len(self.runs), count, index, contiguous=contiguous)
        return self._of(self.runs[mine.start : mine.stop : mine.step])

    @override
    def reshard_data_sources(self, count: int | None = None) -> TableSource:
        """Shards of equal length, or the record batches; see `Node.reshard_data_sources`."""
        if count is None:
            return self._of(_bounds([size for low, high in self.runs.tolist() for size in self._batch_rows(low, high)]))
        parts = max(1, -(-count // max(1, len(self.runs))))
        return self._of(np.concatenate([_cut(run, parts) for run in self.runs]) if len(self.runs) else self.runs)

    @override
    def split(self, count: int, index: int) -> TableSource:
        """Every count-th shard; where there are fewer shards than readers, a part of each shard."""
        if len(self.runs) >= count:
            return self.shard_data_sources(count, index)
        return self._of(np.array([_cut(run, count)[index] for run in self.runs], np.int64).reshape(-1, 2))

    @override
    def shift_seeds(self, by: int) -> TableSource:
        return self

    @override
    def at_epoch(self, epoch: int) -> TableSource:
        return self

    @property
    @override
    def tables(self) -> tuple[Table, ...]:
        return (self.table,)

    @override
    def open(self, bases: Bases | None) -> TableCursor:
        assert bases is not None, "tables are read by reference"
        return TableCursor(self.runs + bases[id(self.table)])

    def _of(self, runs: References) -> TableSource:
        return replace(self, runs=runs)

    def _batch_rows(self, low: int, high: int) -> list[tuple[int, int]]:
        ends = np.cumsum([low, *(batch.num_rows for batch in self.table.slice(low, high - low).iter_batches())])
        return list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))


class TableCursor(Cursor):
    """References to the rows of some runs.

    Args:
        runs: first reference and end of each; int64, shape (runs, 2).
    """

    def __init__(self, runs: References) -> None:
        self._runs = runs
        self._shard = 0
        self._row = 0

    @override
    def next(self) -> References | None:
        pieces: list[References] = []
        missing = PIECE_ROWS
        while missing and self._shard < len(self._runs):
            low, high = self._runs[self._shard].tolist()
            low += self._row
            taken = min(missing, high - low)
            if taken:
                pieces.append(np.arange(low, low + taken))
                missing -= taken
            self._row += taken
            if low + taken == high:
                self._shard += 1
                self._row = 0
        if not pieces:
            return None
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    @override
    def state(self) -> dict[str, Any]:
        return {"shard": self._shard, "row": self._row}

    @override
    def load(self, state: dict[str, Any]) -> None:
        self._shard, self._row = state["shard"], state["row"]


def _cut(run: References, parts: int) -> References:
    low, high = run.tolist()
    bounds = np.array(even_cuts(high - low, parts)) + low
    return np.stack([bounds[:-1], bounds[1:]], axis=1)


def _bounds(runs: list[tuple[int, int]]) -> References:
    return np.array(runs, np.int64).reshape(-1, 2)
