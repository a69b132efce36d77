"""Every n-th row: how rows are dealt to readers where shards do not come out even, or must not be dealt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from typing_extensions import override

from raydata_ext.streaming.nodes.base import Bases, Node, StatelessCursor, Wrapper
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.rows import BATCH_ROWS, PIECE_ROWS, Rows, count_rows, pick

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self

    from raydata_ext.streaming.seeds import Seed

Remainder: TypeAlias = Literal["uneven", "drop", "pad"]


class FixedOrder(Node):
    """A node that counts the rows below it, so that nothing may change which rows come when.

    Its sources are neither shuffled nor dealt; readers share its rows, not its shards.
    """

    @property
    @override
    def num_shards(self) -> int:
        return 1

    @override
    def shuffle_data_sources(self, seed: Seed) -> Self:
        return self

    @override
    def shard_data_sources(self, count: int, index: int, *, contiguous: bool = False) -> Self:
        return self

    @override
    def reshard_data_sources(self, count: int | None = None) -> Self:
        return self

    @override
    def split(self, count: int, index: int) -> Node:
        return EveryNth(self, count, index)

    @override
    def shift_seeds(self, by: int) -> Self:
        """The node itself: all readers must see one order, of which each takes its part."""
        return self


@dataclass(frozen=True, eq=False)
class EveryNth(FixedOrder, Wrapper):
    """Of each `step` rows, the one at place `offset`.

    Attributes:
        step: rows of a round.
        offset: place in the round, 0 <= offset < step.
        remainder: what becomes of a last round that is not full: `"uneven"` gives its rows to the first readers,
            `"drop"` leaves it out, `"pad"` gives the readers that would go without its rows again from the first on.
    """

    step: int
    offset: int
    remainder: Remainder = "uneven"

    orders_only = True

    @property
    @override
    def num_rows(self) -> int | None:
        total = self.child.num_rows
        if total is None:
            return None
        rounds, rest = divmod(total, self.step)
        return rounds + len(_places(rest, self.step, self.offset, self.remainder))

    @property
    @override
    def settings(self) -> Mapping[str, Any]:
        return {"step": self.step, "offset": self.offset, "remainder": self.remainder}

    @override
    def open(self, bases: Bases | None) -> EveryNthCursor:
        return EveryNthCursor(self, bases)


class EveryNthCursor(StatelessCursor):
    """A pass over every n-th row.

    Args:
        node: which rows.
        bases: see `Node.open`.
    """

    def __init__(self, node: EveryNth, bases: Bases | None) -> None:
        super().__init__(RowReader(open_rows(node.child, bases)))
        self._node = node
        self._rounds = max(1, (BATCH_ROWS if bases is None else PIECE_ROWS) // node.step)

    @override
    def next(self) -> Rows | None:
        node = self._node
        rows = self._input.read(self._rounds * node.step)
        if rows is None:
            return None
        return pick([rows], _places(count_rows(rows), node.step, node.offset, node.remainder))


def _places(rows: int, step: int, offset: int, remainder: Remainder) -> Any:
    """Which of some rows, a last round included, are those of one reader."""
    full = rows // step * step
    places = np.arange(offset, full if remainder == "drop" else rows, step)
    rest = rows - full
    if remainder == "pad" and rest and offset >= rest:
        return np.append(places, full + offset % rest)
    return places
