"""The first n rows, or all but these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from raydata_ext.streaming.nodes.base import Bases, Cursor, Wrapper
from raydata_ext.streaming.nodes.every_nth import FixedOrder
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.row_reader import RowReader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from raydata_ext.streaming.rows import Rows


@dataclass(frozen=True, eq=False)
class FirstRows(FixedOrder, Wrapper):
    """A node that knows the first rows of another from those that follow.

    Attributes:
        count: how many the first rows are.
    """

    count: int

    orders_only = True

    @property
    @override
    def settings(self) -> Mapping[str, Any]:
        return {"count": self.count}


class Skip(FirstRows):
    """All rows but the first `count`, which are passed over by reference where they have references."""

    @property
    @override
    def num_rows(self) -> int | None:
        total = self.child.num_rows
        return None if total is None else max(0, total - self.count)

    @override
    def open(self, bases: Bases | None) -> SkipCursor:
        return SkipCursor(RowReader(open_rows(self.child, bases)), self.count)


class Take(FirstRows):
    """The first `count` rows, or fewer where there are not so many; what comes after them is not read."""

    @property
    @override
    def num_rows(self) -> int | None:
        total = self.child.num_rows
        return None if total is None else min(total, self.count)

    @override
    def open(self, bases: Bases | None) -> TakeCursor:
        return TakeCursor(RowReader(open_rows(self.child, bases)), self.count)


class FirstRowsCursor(Cursor):
    """A pass that counts down the first rows.

    Args:
        rows: of the child.
        count: how many the first rows are.
    """

    def __init__(self, rows: RowReader, count: int) -> None:
        self._input = rows
        self._left = count

    @override
    def state(self) -> dict[str, Any]:
        return {"left": self._left, "input": self._input.state()}

    @override
    def load(self, state: dict[str, Any]) -> None:
        self._left = state["left"]
        self._input.load(state["input"])


class SkipCursor(FirstRowsCursor):
    """A pass over what comes after the first rows."""

    @override
    def next(self) -> Rows | None:
        self._input.skip(self._left)
        self._left = 0
        found = self._input.available()
        return self._input.take(found) if found else None


class TakeCursor(FirstRowsCursor):
    """A pass over the first rows."""

    @override
    def next(self) -> Rows | None:
        found = min(self._left, self._input.available()) if self._left else 0
        self._left -= found
        return self._input.take(found) if found else None
