"""The shuffle of Hugging Face `datasets` 5.0, row for row, on references.

Shards in random order, up to ten groups of them read one row each in turn, and a buffer in which a random slot is
emitted and filled again. Where the rows have no references of their own, `RowMemory` lends them some.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.streaming.nodes.base import Bases, Cursor, Node, Wrapper
from raydata_ext.streaming.nodes.concat import shards_of
from raydata_ext.streaming.nodes.gather import GatherCursor, open_rows
from raydata_ext.streaming.nodes.round_robin import RoundRobin
from raydata_ext.streaming.nodes.table_rounds import open_in_turn
from raydata_ext.streaming.order import through_buffer
from raydata_ext.streaming.row_memory import Memory, RowMemory
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.rows import BATCH_ROWS, PIECE_ROWS, References
from raydata_ext.streaming.seeds import Draws, Seed
from raydata_ext.streaming.shard_memory import ShardMemory

if TYPE_CHECKING:
    from collections.abc import Mapping


_NONE: References = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class BufferShuffle(Wrapper):
    """Rows in an order that is random within the reach of a buffer.

    Attributes:
        buffer_size: slots of the buffer, at least 1.
        seed: of the slots.
        max_buffer_input_shards: groups of shards that fill the buffer side by side.
    """

    buffer_size: int
    seed: Seed
    max_buffer_input_shards: int

    orders_only = True

    @property
    @override
    def num_rows(self) -> int | None:
        return self.child.num_rows

    @property
    @override
    def settings(self) -> Mapping[str, Any]:
        return {
            "buffer_size": self.buffer_size,
            "seed": self.seed.value,
            "max_buffer_input_shards": self.max_buffer_input_shards,
        }

    @override
    def shift_seeds(self, by: int) -> BufferShuffle:
        return replace(self, child=self.child.shift_seeds(by), seed=self.seed.shifted(by))

    @override
    def at_epoch(self, epoch: int) -> BufferShuffle:
        child = self.child.at_epoch(epoch).shuffle_data_sources(Seed(epoch))
        return replace(self, child=child, seed=self.seed.shifted(epoch))

    @override
    def open(self, bases: Bases | None) -> Cursor:
        if bases is not None:
            return ShuffleCursor(self, open_in_turn(self.incoming(), bases), PIECE_ROWS)
        memory = self._memory()
        return GatherCursor(ShuffleCursor(self, memory, BATCH_ROWS, memory), memory.gather)

    def incoming(self) -> Node:
        """The rows in the order in which they reach the buffer."""
        groups = self._group_nodes()
        return groups[0] if len(groups) == 1 else RoundRobin(groups)

    def _group_nodes(self) -> tuple[Node, ...]:
        """Groups of shards, which are read side by side."""
        count = min(self.child.num_shards, self.max_buffer_input_shards)
        if count < 2:  # noqa: PLR2004 - one group is the child itself
            return (self.child,)
        return tuple(self.child.shard_data_sources(count, i, contiguous=True) for i in range(count))

    def _memory(self) -> Memory:
        """What lends references to rows that have none."""
        groups = [shards_of(group) for group in self._group_nodes()]
        shards = [group for group in groups if group is not None]
        return ShardMemory(shards) if len(shards) == len(groups) else RowMemory(open_rows(self.incoming(), None))


class ShuffleCursor(Cursor):
    """A pass of references through a buffer, a window of many rows at a time.

    Args:
        node: the shuffle.
        references: gives references.
        window: rows of a window, at least; a larger buffer has larger windows, so that copying it costs little a row.
        memory: what gives the references, where these do not last; it is told which rows wait.
    """

    def __init__(self, node: BufferShuffle, references: Cursor, window: int, memory: Memory | None = None) -> None:
        self._size = node.buffer_size
        self._window = max(window, node.buffer_size // 4)
        self._memory = memory
        self._input = RowReader(references)
        self._buffer: References = _NONE
        self._slots = _slots(node.buffer_size, node.seed)

    @override
    def next(self) -> References | None:
        if self._memory is not None:
            at_hand = self._input.at_hand()
            self._memory.forget(self._buffer if at_hand is None else np.concatenate([self._buffer, at_hand]))
        missing = self._size - len(self._buffer)
        if missing and (rows := self._input.read(missing)) is not None:
            self._buffer = np.concatenate([self._buffer, rows])
        incoming = self._incoming() if len(self._buffer) == self._size else None
        if incoming is not None:
            emitted, self._buffer = through_buffer(self._buffer, incoming, self._slots.take(len(incoming)))
            return emitted
        if not len(self._buffer):
            return None
        rest: References = self._buffer.copy()
        self._buffer = _NONE
        self._slots.generator.shuffle(rest)
        return rest

    @override
    def state(self) -> dict[str, Any]:
        state = {"input": self._input.state(), "buffer": self._buffer, "slots": self._slots.state()}
        if self._memory is not None:
            state["memory"] = self._memory.mark(self._buffer)
        return state

    @override
    def load(self, state: dict[str, Any]) -> None:
        self._buffer = state["buffer"]
        self._slots.load(state["slots"])
        if self._memory is not None:
            self._memory.recall(state["memory"], self._buffer)
        self._input.load(state["input"])

    def _incoming(self) -> References | None:
        """The rows of the next window: what is at hand, if that is enough."""
        found = self._input.available()
        if found < self._window // 2:
            rows: References | None = self._input.read(self._window)
        else:
            rows = self._input.take(min(found, self._window))
        return rows


def _slots(buffer_size: int, seed: Seed) -> Draws:
    """Which slot each row that follows a full buffer goes through."""
    return Draws(seed.generator(), lambda generator, count: generator.integers(0, buffer_size, size=count))


def can_read_again(node: Node) -> bool:
    """Whether a shuffle of a node waits with references from which its rows can be read, each without the others."""
    return node.indexed or shards_of(node) is not None
