"""One row of each group of shards in turn, where shards are runs of rows of tables: references by arithmetic.

So no piece of each group has to wait in memory until its rows have their turn, which matters where many shuffles are
under way side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.streaming.nodes.base import Bases, Cursor, Node
from raydata_ext.streaming.nodes.concat import Concat
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.nodes.round_robin import RoundRobin
from raydata_ext.streaming.nodes.table_source import TableSource
from raydata_ext.streaming.rows import PIECE_ROWS, References
from raydata_ext.streaming.rows_done import rows_read

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBERS = 32


def open_in_turn(node: Node, bases: Bases) -> Cursor:
    """A pass of references over a node, whatever it is; its positions are the same in any case."""
    if isinstance(node, RoundRobin) and all(map(_is_of_tables, node.parts)):
        return TableRounds(node, bases)
    return open_rows(node, bases)


class TableRounds(Cursor):
    """A pass over groups of runs. All of its pieces but the last ones are of one length, however many groups there are.

    Args:
        node: the groups.
        bases: see `Node.open`.
    """

    def __init__(self, node: RoundRobin, bases: Bases) -> None:
        self._parts = node.parts
        self._begins = [part.open(bases).state() for part in node.parts]
        self._groups = [_Group(_runs(part, bases)) for part in node.parts]
        self._active = self._groups  # those that still have rows, up to a round
        self._until = min(group.length for group in self._groups)
        self._round = 0
        self._given = 0  # active groups that have given their row of the round

    @override
    def next(self) -> References | None:
        """Rows of rounds in which the same groups still have rows."""
        start, given = self._round, self._given
        if start >= self._until:
            self._find_active()
        groups = self._active
        if not groups:
            return None
        stop = min(self._until, start + -(-(given + PIECE_ROWS) // len(groups)))
        rows = _outer_sum(start, stop, [group.base(start) for group in groups])
        for column, group in enumerate(groups):
            if group.end < stop:  # further runs of the group begin
                rows[:, column] = group.references(start, stop)
        piece: References = rows.reshape(-1)[given : given + PIECE_ROWS]
        full, self._given = divmod(given + len(piece), len(groups))
        self._round = start + full
        return piece

    @override
    def state(self) -> dict[str, Any]:
        """Positions of readers of all groups, which have gone on from the begin."""
        inputs, given = [], self._given
        for at, group in zip(self._begins, self._groups, strict=True):
            has_given = given > 0 and group.length > self._round
            given -= has_given
            inputs.append({"at": at, "rows": min(group.length, self._round + has_given)})
        return {"inputs": inputs}

    @override
    def load(self, state: dict[str, Any]) -> None:
        done = [rows_read(part, saved) or 0 for part, saved in zip(self._parts, state["inputs"], strict=True)]
        left = [rows for rows, group in zip(done, self._groups, strict=True) if rows < group.length]
        self._round = min(left, default=max(done))
        self._given = sum(rows > self._round for rows in done)
        self._find_active()

    def _find_active(self) -> None:
        self._active = [group for group in self._groups if group.length > self._round]
        self._until = min((group.length for group in self._active), default=self._round)


class _Group:
    """Runs of rows one after the other.

    Args:
        runs: first reference and end of each; int64, shape (runs, 2).

    Attributes:
        length: rows.
        end: place in the group after the run that was looked at last.
    """

    def __init__(self, runs: References) -> None:
        self._ends = np.cumsum(runs[:, 1] - runs[:, 0])
        self._bases = runs[:, 1] - self._ends  # what a place in each run lacks to be its reference
        self.length = int(self._ends[-1]) if len(runs) else 0
        self._begin = self.end = self._base = 0

    def base(self, place: int) -> int:
        """What a place, below the length, lacks to be its reference; the same for all up to `end`."""
        if not self._begin <= place < self.end:
            run = int(self._ends.searchsorted(place, side="right"))
            self._begin = int(self._ends[run - 1]) if run else 0
            self.end, self._base = int(self._ends[run]), int(self._bases[run])
        return self._base

    def references(self, start: int, stop: int) -> References:
        """References of places [start, stop), at least one."""
        first, last = self._ends.searchsorted([start, stop - 1], side="right").tolist()
        borders = np.clip(self._ends[first : last + 1], start, stop)
        rows: References = np.arange(start, stop) + np.repeat(
            self._bases[first : last + 1], np.diff(borders, prepend=start)
        )
        return rows


def _outer_sum(start: int, stop: int, bases: Sequence[int]) -> References:
    """Each number from start up to stop plus each base; shape (stop - start, bases).

    Many numbers are done at a time, since numpy takes several times as long along an axis as short as that of bases.
    """
    sums = np.add.outer(np.arange(_NUMBERS), bases).reshape(-1)
    found: References = np.add.outer(np.arange(start, stop, _NUMBERS), sums).reshape(-1, len(bases))
    return found[: stop - start]


def _is_of_tables(node: Node) -> bool:
    return isinstance(node, TableSource) or (isinstance(node, Concat) and all(map(_is_of_tables, node.parts)))


def _runs(node: Node, bases: Bases) -> References:
    """First reference and end of each shard."""
    if isinstance(node, TableSource):
        return node.runs + bases[id(node.table)]
    return np.concatenate([np.empty((0, 2), np.int64), *(_runs(part, bases) for part in node.children)])
