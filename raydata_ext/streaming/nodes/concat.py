"""The rows of several nodes, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from raydata_ext.streaming.known import known_sum
from raydata_ext.streaming.nodes.base import Bases, Cursor, Joined, Node
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.nodes.shard_source import ShardSource
from raydata_ext.streaming.order import dealt, permutation
from raydata_ext.streaming.rows import widened

if TYPE_CHECKING:
    from raydata_ext.streaming.rows import Rows
    from raydata_ext.streaming.seeds import Seed
    from raydata_ext.streaming.shards import StreamShard


@dataclass(frozen=True, eq=False)
class Concat(Joined):
    """The rows of the first part, then those of the second, and so on."""

    orders_only = True

    @property
    @override
    def num_shards(self) -> int:
        return sum(part.num_shards for part in self.parts)

    @property
    @override
    def num_rows(self) -> int | None:
        return known_sum(part.num_rows for part in self.parts)

    @override
    def shuffle_data_sources(self, seed: Seed) -> Concat:
        """The shards of all parts in one random order."""
        shards = self._shards(range(self.num_shards))
        return Concat(tuple(shards[i] for i in permutation(len(shards), seed)))

    @override
    def shard_data_sources(self, count: int, index: int, *, contiguous: bool = False) -> Concat:
        return Concat(self._shards(dealt(self.num_shards, count, index, contiguous=contiguous)))

    @override
    def reshard_data_sources(self, count: int | None = None) -> Concat:
        each = None if count is None else -(-count // max(1, len(self.parts)))
        return Concat(tuple(part.reshard_data_sources(each) for part in self.parts))

    @override
    def split(self, count: int, index: int) -> Node:
        """Every count-th shard of all; where there are fewer than readers, a part of each."""
        return self.shard_data_sources(count, index) if self.num_shards >= count else super().split(count, index)

    @override
    def open(self, bases: Bases | None) -> ConcatCursor:
        return ConcatCursor(self, bases)

    def _shards(self, numbers: range) -> tuple[Node, ...]:
        """Some shards, each as a node, by their numbers over all parts."""
        found: list[Node] = []
        first = 0
        for part in self.parts:
            count = part.num_shards
            start = max(0, -(-(first - numbers.start) // numbers.step))
            for number in numbers[start:]:
                if number >= first + count:
                    break
                found.append(part if count == 1 else part.shard_data_sources(count, number - first))
            first += count
        return tuple(found)


class ConcatCursor(Cursor):
    """A pass over all parts; one is open at a time.

    Args:
        node: the parts.
        bases: see `Node.open`.
    """

    def __init__(self, node: Concat, bases: Bases | None) -> None:
        self._parts = node.parts
        self._bases = bases
        self._schema = node.schema if bases is None else None
        self._part = 0
        self._input: Cursor | None = None

    @override
    def next(self) -> Rows | None:
        while self._part < len(self._parts):
            if self._input is None:
                self._input = open_rows(self._parts[self._part], self._bases)
            rows = self._input.next()
            if rows is not None:
                return rows if self._schema is None else widened(rows, self._schema)
            self._part += 1
            self._input = None
        return None

    @override
    def state(self) -> dict[str, Any]:
        return {"part": self._part, "input": None if self._input is None else self._input.state()}

    @override
    def load(self, state: dict[str, Any]) -> None:
        self._part, self._input = state["part"], None
        if state["input"] is not None:
            self._input = open_rows(self._parts[self._part], self._bases)
            self._input.load(state["input"])


def shards_of(node: Node) -> tuple[StreamShard, ...] | None:
    """The shards that a node reads one after the other, where it does nothing else; None where it does."""
    if isinstance(node, ShardSource):
        return node.shards
    if not isinstance(node, Concat):
        return None
    parts = [shards_of(part) for part in node.parts]
    return None if None in parts else tuple(shard for part in parts for shard in part or ())
