"""One row of each group of shards in turn: the second level of the shuffle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from raydata_ext.streaming.nodes.base import Bases, Cursor, Node
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.rows import PIECE_ROWS, Rows, in_turn

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, eq=False)
class RoundRobin(Node):
    """One row of each group in turn; a group that has no more rows is passed over.

    It is made of a node's shards when a shuffle is opened, never by a user, and so it is not divided any further.

    Attributes:
        groups: the nodes.
    """

    groups: tuple[Node, ...]

    orders_only = True

    @property
    @override
    def children(self) -> tuple[Node, ...]:
        return self.groups

    @override
    def with_children(self, children: Sequence[Node]) -> RoundRobin:
        return RoundRobin(tuple(children))

    @property
    @override
    def num_shards(self) -> int:
        return 1

    @override
    def open(self, bases: Bases | None) -> RoundRobinCursor:
        return RoundRobinCursor([RowReader(open_rows(group, bases)) for group in self.groups])


class RoundRobinCursor(Cursor):
    """A pass over all groups.

    Args:
        groups: the rows of each.
    """

    def __init__(self, groups: Sequence[RowReader]) -> None:
        self._groups = groups

    @override
    def next(self) -> Rows | None:
        """Whole rounds, as many as all groups that still have rows have at hand."""
        at_hand = [(found, group) for group in self._groups if (found := group.available())]
        if not at_hand:
            return None
        rounds = min(max(1, PIECE_ROWS // len(at_hand)), *(found for found, _ in at_hand))
        pieces = [group.take(rounds) for _, group in at_hand]
        return pieces[0] if len(pieces) == 1 else in_turn(pieces)

    @override
    def state(self) -> dict[str, Any]:
        return {"groups": [group.state() for group in self._groups]}

    @override
    def load(self, state: dict[str, Any]) -> None:
        for group, saved in zip(self._groups, state["groups"], strict=True):
            group.load(saved)
