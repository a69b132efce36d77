"""States of shuffles without their buffers: what a buffer holds follows from the last slots that were drawn.

Slot s holds the row that came in when s was drawn last. So the buffer is made again of the numbers drawn before a
state: the generator is set back, which PCG64 can do, and draws them once more. A number is drawn from one 32-bit
word, or the word is passed over; either depends on that word alone, and so the numbers are the same from wherever one
begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from raydata_ext.feed.lanes import table_sources
from raydata_ext.feed.layout import Layout
from raydata_ext.feed.mixture import Mixture
from raydata_ext.streaming.nodes.buffer_shuffle import BufferShuffle
from raydata_ext.streaming.nodes.concat import Concat
from raydata_ext.streaming.nodes.interleave import Interleave
from raydata_ext.streaming.nodes.round_robin import RoundRobin
from raydata_ext.streaming.rows_done import rows_read

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from raydata_ext.streaming.nodes.base import Bases, Node, State

    References = NDArray[np.int64]

_SLACK = 8
"""Words that may be passed over in the numbers that are drawn again; one in 2^32 / buffer_size is."""


def without_buffers(node: Node, state: State, bases: Bases) -> State:
    """The position of a `RowReader` without what can be made again.

    Args:
        node: what is read, by reference.
        state: its position; not changed.
        bases: see `Node.open`.
    """

    def drop(shuffle: BufferShuffle, saved: State) -> State:
        made = _made_again(shuffle, saved, bases)
        if made is None or not np.array_equal(made, saved["buffer"]):
            return saved
        return {**saved, "buffer": None}

    return _changed(node, state, drop)


def with_buffers(node: Node, state: State, bases: Bases) -> State:
    """The position that `without_buffers` was given."""

    def restore(shuffle: BufferShuffle, saved: State) -> State:
        return saved if saved["buffer"] is not None else {**saved, "buffer": _made_again(shuffle, saved, bases)}

    return _changed(node, state, restore)


def _changed(node: Node, state: State, change: Callable[[BufferShuffle, State], State]) -> State:
    """A reader's position with the positions of all shuffles below it changed."""
    return {**state, "at": _changed_cursor(node, state["at"], change)}


def _changed_cursor(node: Node, state: State, change: Callable[[BufferShuffle, State], State]) -> State:
    if isinstance(node, BufferShuffle):
        return change(node, state)
    if isinstance(node, Interleave | Mixture):
        inputs = [
            None if saved is None else _changed(source.after_passes(passed), saved, change)
            for source, saved, passed in zip(node.children, state["inputs"], state["passes"], strict=False)
        ]
        return {**state, "inputs": inputs}
    if isinstance(node, Concat) and state["input"] is not None:
        return {**state, "input": _changed_cursor(node.parts[state["part"]], state["input"], change)}
    return state


def _made_again(node: BufferShuffle, state: State, bases: Bases) -> References | None:
    """The buffer at a position, or None where it is not full or does not follow from numbers drawn."""
    size = node.buffer_size
    incoming = node.incoming()
    taken = rows_read(incoming, state["input"])
    if taken is None or taken <= size:
        return None
    rows, steps = _Incoming(incoming, bases), taken - size
    count = int(size * (np.log(size) + 12))
    while True:
        count = min(count, steps)
        slots = _last_slots(size, state["slots"], count)
        if slots is None:
            return None
        last = np.full(size, -1, np.int64)
        last[slots] = np.arange(steps - count, steps) + size  # of several steps with one slot, the last stays
        missing = last < 0
        if count == steps:
            last[missing] = np.flatnonzero(missing)
        if count == steps or not missing.any():
            return rows.references(last)
        count *= 2


def _last_slots(size: int, draws: State, count: int) -> References | None:
    """The last `count` slots that were drawn up to a position."""
    here = np.random.PCG64()
    here.state = draws["generator"]
    drawn: References = np.random.Generator(here).integers(0, size, size=draws["drawn"])
    block = drawn[: draws["used"]]
    before = count - len(block)
    if before <= 0:
        return block[len(block) - count :]
    if size == 1:  # no word is drawn for it
        return np.zeros(count, np.int64)
    words = -(-(before + _SLACK) // 2)
    back = np.random.PCG64()
    back.state = draws["generator"]
    back.advance(-words)
    generator = np.random.Generator(back)
    numbers = generator.integers(0, size, size=2 * words - _SLACK)
    for _ in range(_SLACK + 1):
        if _place(back.state) == _place(draws["generator"]):
            return np.concatenate([numbers[len(numbers) - before :], block]) if len(numbers) >= before else None
        numbers = np.append(numbers, generator.integers(0, size))
    return None


def _place(state: Any) -> tuple[int, int]:
    return state["state"]["state"], state["has_uint32"]


class _Incoming:
    """The rows in the order in which they reach the buffer.

    Args:
        node: shards of tables, or groups of such that are read one row each in turn.
        bases: see `Node.open`.
    """

    def __init__(self, node: Node, bases: Bases) -> None:
        groups = node.parts if isinstance(node, RoundRobin) else (node,)
        self._runs = [_runs(group, bases) for group in groups]  # first reference and end of each shard
        self._ends = [np.cumsum(runs[:, 1] - runs[:, 0]) for runs in self._runs]
        self._layout = Layout([int(ends[-1]) if len(ends) else 0 for ends in self._ends])

    def references(self, indices: References) -> References:
        """References of rows by their places in the order."""
        groups, places = self._layout.locate(indices)
        found = np.empty(len(indices), np.int64)
        for number in np.unique(groups).tolist():
            mine = groups == number
            ends, rows = self._ends[number], places[mine]
            shards = ends.searchsorted(rows, side="right")
            found[mine] = self._runs[number][shards, 1] - (ends[shards] - rows)
        return found


def _runs(group: Node, bases: Bases) -> References:
    return np.concatenate([source.runs + bases[id(source.table)] for source in table_sources(group)])
