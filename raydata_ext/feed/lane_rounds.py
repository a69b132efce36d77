"""Rounds of lanes on references: one row of each lane in turn, read a block of rounds at a time.

A block is kept in one place of memory, and lanes are read into it one after the other. So what a lane needs while it
is read is let go of before the next one is read, and stays in the cache of the processor however many lanes there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from raydata_ext.streaming.nodes.base import State
    from raydata_ext.streaming.row_reader import RowReader

    References = NDArray[np.int64]

BLOCK_ROWS = 1 << 19
"""References of a block, over all lanes."""


class LaneRounds:
    """Rows of lanes in turn: at place p there is row p // n of lane p mod n.

    Args:
        lanes: readers of n lanes, which have given all rows before the first place; nobody else uses them.
        place: the first place.
        end: the place after the last one, at the end of a round; all lanes have rows up to there.
        block_rows: rows of a block at most, over all lanes; one round at least is read.
    """

    def __init__(self, lanes: Sequence[RowReader], place: int, end: int, *, block_rows: int = BLOCK_ROWS) -> None:
        self._lanes = lanes
        self._place = place
        self.end = end
        self._block_rows = block_rows
        self._block: References = np.empty((len(lanes), 0), np.int64)
        self._first_round = 0  # of the block
        self._stop = place  # of the block
        self._begin = place  # the place before which the lanes were when the block was read
        self._before: list[State] = []  # where they were

    def take(self, count: int) -> References:
        """The rows at the next places, which must be before the end; int64, shape (count,)."""
        pieces = []
        while count:
            if self._place == self._stop:
                self._read_block(-(-count // len(self._lanes)))
            taken = min(count, self._stop - self._place)
            pieces.append(self._turned(self._place, self._place + taken))
            self._place += taken
            count -= taken
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def states(self) -> list[State]:
        """Positions of readers of the lanes that have given all rows before the next place, and no more."""
        if self._place == self._stop:
            return [lane.state() for lane in self._lanes]
        done = self._rows_before(self._place) - self._rows_before(self._begin)
        return [{**at, "rows": at["rows"] + rows} for at, rows in zip(self._before, done.tolist(), strict=True)]

    def _read_block(self, wanted: int) -> None:
        """Read so many rounds, or more where they are at hand."""
        width = len(self._lanes)
        first, given = divmod(self._place, width)  # the first lanes may have given their row of the round
        most = min(max(1, self._block_rows // width), self.end // width - first)
        rounds = min(max(wanted, self._lanes[-1].available()), most)
        if rounds > self._block.shape[1]:
            self._block = np.empty((width, rounds), np.int64)
        before = []
        for number, lane in enumerate(self._lanes):
            lane.available()  # a position is found many times as fast once rows are at hand
            before.append(lane.state())
            start = int(number < given)
            rows: References | None = lane.read(rounds - start)
            if rows is not None:
                self._block[number, start:rounds] = rows
        self._begin, self._before = self._place, before
        self._first_round, self._stop = first, (first + rounds) * width

    def _turned(self, start: int, stop: int) -> References:
        """The rows of the block at places [start, stop)."""
        width = len(self._lanes)
        first = start // width
        rounds = self._block[:, first - self._first_round : -(-stop // width) - self._first_round]
        rows: References = rounds.T.flatten()  # a copy in any case: the block is used again
        return rows[start - first * width : stop - first * width]

    def _rows_before(self, place: int) -> References:
        """How many rows of each lane are before a place."""
        width = len(self._lanes)
        return (place + width - 1 - np.arange(width)) // width
