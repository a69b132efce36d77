"""Reading a cursor by rows, whatever pieces it hands out, with a position that is exact to the row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raydata_ext.streaming.rows import Rows, count_rows, cut, join

if TYPE_CHECKING:
    from raydata_ext.streaming.nodes.base import Cursor


class RowReader:
    """Reads a cursor in runs of rows.

    The position is where the cursor stood before the piece that is being read, and how many rows of the piece are done;
    so a cursor need only know its position between pieces. A piece that could not be made is asked for again, and the
    position is before it.

    Args:
        cursor: what is read; nobody else may.

    Attributes:
        start: rows of the piece at hand that are done; whoever is done with rows that `peek` showed adds them.
    """

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._before: Any = None
        self._piece: Rows | None = None
        self.start = 0
        self._stop = 0
        self._skip = 0  # rows of the pieces to come that are done already
        self._ended = False
        self._failed = False  # the cursor is somewhere in a piece that could not be made

    def available(self, multiple: int | None = None) -> int:
        """Rows at hand; reads on where there are none. 0 is the end.

        Args:
            multiple: rows that are going to be taken at a time; None is any.
        """
        while self.start == self._stop and not self._ended:
            self._fetch(multiple)
        return self._stop - self.start

    def peek(self) -> Rows:
        """The rows at hand, which `available` says there are, without taking them."""
        assert self._piece is not None
        return cut(self._piece, self.start, self._stop) if self.start else self._piece

    def at_hand(self) -> Rows | None:
        """The rows at hand, without reading on where there are none."""
        return self.peek() if self.start < self._stop else None

    def take(self, count: int) -> Rows:
        """Take so many of the rows at hand."""
        assert self._piece is not None
        piece, start = self._piece, self.start
        self.start += count
        if self.start == self._stop:
            self._piece = None  # many readers at a time would hold on to much memory
        return piece if count == self._stop else cut(piece, start, self.start)

    def read(self, count: int | None) -> Rows | None:
        """Take the next rows, fewer only at the end, and None where there are none.

        Args:
            count: how many; None is all.
        """
        pieces: list[Rows] = []
        missing = count
        while (missing is None or missing) and (found := self.available(missing)):
            taken = found if missing is None else min(found, missing)
            pieces.append(self.take(taken))
            missing = None if missing is None else missing - taken
        return join(pieces) if pieces else None

    def skip(self, count: int) -> None:
        """Leave out the next rows."""
        while count and (found := self.available()):
            self.start += min(found, count)
            count -= min(found, count)

    def state(self) -> dict[str, Any]:
        """The position; never changed later."""
        if self.start == self._stop and not self._failed:
            return {"at": self._cursor.state(), "rows": self._skip}
        return {"at": self._before, "rows": self._skip if self._failed else self.start}

    def load(self, state: dict[str, Any]) -> None:
        """Go to a saved position; reads nothing yet."""
        self._cursor.load(state["at"])
        self._piece, self.start, self._stop = None, 0, 0
        self._skip, self._ended, self._failed = state["rows"], False, False

    def _fetch(self, multiple: int | None) -> None:
        if self._failed:
            self._cursor.load(self._before)
        self._before, self._failed = self._cursor.state(), True  # until it has not: an interrupt may come anywhere
        piece = self._cursor.next() if multiple is None else self._cursor.next_of(multiple)
        self._piece, self._ended = piece, piece is None
        self._stop = 0 if piece is None else count_rows(piece)
        self.start = min(self._skip, self._stop)
        self._failed = False
        self._skip -= self.start
