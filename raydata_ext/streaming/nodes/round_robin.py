"""One row of each group of shards in turn: the second level of the shuffle."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from raydata_ext.streaming.nodes.base import Bases, Joined, JoinedCursor
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.rows import PIECE_ROWS, Rows, in_turn


@dataclass(frozen=True, eq=False)
class RoundRobin(Joined):
    """One row of each part in turn; a part that has no more rows is passed over.

    Its parts are groups of a node's shards. It is made when a shuffle is opened, never by a user, and so it is not
    divided any further.
    """

    orders_only = True

    @property
    @override
    def num_shards(self) -> int:
        return 1

    @override
    def open(self, bases: Bases | None) -> RoundRobinCursor:
        return RoundRobinCursor([RowReader(open_rows(group, bases)) for group in self.parts])


class RoundRobinCursor(JoinedCursor):
    """A pass over all groups."""

    @override
    def next(self) -> Rows | None:
        """Whole rounds, as many as all groups that still have rows have at hand."""
        at_hand = [(found, group) for group in self._inputs if (found := group.available())]
        if not at_hand:
            return None
        rounds = min(max(1, PIECE_ROWS // len(at_hand)), *(found for found, _ in at_hand))
        pieces = [group.take(rounds) for _, group in at_hand]
        return pieces[0] if len(pieces) == 1 else in_turn(pieces)
