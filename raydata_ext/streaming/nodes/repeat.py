"""The same rows again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from raydata_ext.streaming.nodes.base import Bases, Cursor, Wrapper
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.rows import Rows, count_rows

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, eq=False)
class Repeat(Wrapper):
    """All rows several times, each time in the same order.

    Attributes:
        times: how often; None is without end.
    """

    times: int | None

    orders_only = True

    @property
    @override
    def num_rows(self) -> int | None:
        total = self.child.num_rows
        return None if total is None or self.times is None else total * self.times

    @property
    @override
    def settings(self) -> Mapping[str, Any]:
        return {"times": self.times}

    @override
    def open(self, bases: Bases | None) -> RepeatCursor:
        return RepeatCursor(self, bases)


class RepeatCursor(Cursor):
    """A pass over all repetitions.

    Args:
        node: what is repeated.
        bases: see `Node.open`.
    """

    def __init__(self, node: Repeat, bases: Bases | None) -> None:
        self._node = node
        self._bases = bases
        self._done = 0
        self._found = False  # whether there were rows in this repetition: without any, there never will be
        self._input = self._opened()

    @override
    def next(self) -> Rows | None:
        while self._node.times is None or self._done < self._node.times:
            rows = self._input.next()
            if rows is not None:
                self._found = self._found or count_rows(rows) > 0
                return rows
            if not self._found and self._node.times is None:
                return None
            self._done += 1
            self._found = False
            self._input = self._opened()
        return None

    @override
    def state(self) -> dict[str, Any]:
        return {"done": self._done, "found": self._found, "input": self._input.state()}

    @override
    def load(self, state: dict[str, Any]) -> None:
        self._done, self._found = state["done"], state["found"]
        self._input = self._opened()
        self._input.load(state["input"])

    def _opened(self) -> Cursor:
        return open_rows(self._node.child, self._bases)
