"""All rows but the first n."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from raydata_ext.streaming.nodes.base import Bases, Cursor
from raydata_ext.streaming.nodes.every_nth import FixedOrder
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.row_reader import RowReader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from raydata_ext.streaming.rows import Rows


@dataclass(frozen=True, eq=False)
class Skip(FixedOrder):
    """All rows but the first `count`.

    Attributes:
        count: rows that are left out.
    """

    count: int

    @property
    @override
    def num_rows(self) -> int | None:
        total = self.child.num_rows
        return None if total is None else max(0, total - self.count)

    @property
    @override
    def settings(self) -> Mapping[str, Any]:
        return {"count": self.count}

    @override
    def open(self, bases: Bases | None) -> SkipCursor:
        return SkipCursor(RowReader(open_rows(self.child, bases)), self.count)


class SkipCursor(Cursor):
    """A pass over what comes after the first rows.

    Args:
        rows: of the child.
        count: how many are left out.
    """

    def __init__(self, rows: RowReader, count: int) -> None:
        self._input = rows
        self._left = count

    @override
    def next(self) -> Rows | None:
        self._input.skip(self._left)
        self._left = 0
        found = self._input.available()
        return self._input.take(found) if found else None

    @override
    def state(self) -> dict[str, Any]:
        return {"left": self._left, "input": self._input.state()}

    @override
    def load(self, state: dict[str, Any]) -> None:
        self._left = state["left"]
        self._input.load(state["input"])
