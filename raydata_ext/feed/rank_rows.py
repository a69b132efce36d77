"""The rows of one rank, step after step, taken out of the lanes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.feed.epoch_log import EpochLog, Mark
from raydata_ext.feed.lane_rounds import LaneRounds
from raydata_ext.feed.plan import EpochOrder, steps_of
from raydata_ext.streaming.nodes.base import Bases, Cursor, Node
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.rows import Rows, count_rows, cut, join, pick

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raydata_ext.feed.share import Share
    from raydata_ext.table import Table

_MOST_ROWS = 1 << 16
"""References that are computed at a time, over all lanes."""


@dataclass(frozen=True, eq=False)
class RankRows(Node):
    """The rows that a rank receives, from a step on.

    Attributes:
        order: the epoch.
        share: the part of the rank.
        first_step: the first step.
        stride: only every stride-th step.
        mark: where lanes stand at `first_step` or before; None is at their begin.
        log: what the pass finds out.
    """

    order: EpochOrder
    share: Share
    first_step: int = 0
    stride: int = 1
    mark: Mark | None = None
    log: EpochLog = field(default_factory=EpochLog)

    orders_only = True

    @property
    @override
    def children(self) -> tuple[Node, ...]:
        return self.order.lanes

    @property
    @override
    def num_shards(self) -> int:
        return 1

    @property
    @override
    def tables(self) -> tuple[Table, ...]:
        """All tables in the order of the stream, so that references are the same for all ranks."""
        return self.order.tables

    @override
    def open(self, bases: Bases | None) -> Cursor:
        if self.order.layout is None:
            return _UncountedCursor(self, bases)
        return _CountedCursor(self, bases)


class _RankCursor(Cursor):
    """What passes over counted and uncounted epochs have in common.

    Args:
        node: which rows.
        bases: see `Node.open`.
        lanes: the lanes that are read.
    """

    def __init__(self, node: RankRows, bases: Bases | None, lanes: range) -> None:
        self._node = node
        self._bases = bases
        self._lanes = lanes
        self._size = node.order.plan.global_batch_size
        self._offsets = node.share.offsets
        self._step = node.first_step
        self._readers = {lane: self._reader(lane) for lane in lanes}
        if node.mark is not None:
            for lane, reader in self._readers.items():
                reader.load(node.mark.lanes[lane])

    @override
    def state(self) -> dict[str, Any]:
        return {"step": self._step, "lanes": [reader.state() for reader in self._readers.values()]}

    @override
    def load(self, state: dict[str, Any]) -> None:
        self._step = state["step"]
        for reader, saved in zip(self._readers.values(), state["lanes"], strict=True):
            reader.load(saved)

    def _reader(self, lane: int) -> RowReader:
        return RowReader(open_rows(self._node.order.lanes[lane], self._bases))

    def _read(self, reader: RowReader, count: int) -> Rows:
        """The next rows of a lane, which are read here if they are not references."""
        rows = reader.read(count)
        if self._bases is None and rows is not None:
            self._node.log.bytes_read += rows.nbytes
        return rows


class _CountedCursor(_RankCursor):
    """A pass over an epoch whose lanes have known lengths: several steps at a time, by arithmetic."""

    def __init__(self, node: RankRows, bases: Bases | None) -> None:
        layout = node.order.layout
        assert layout is not None
        self._layout = layout
        lengths = layout.lengths
        is_level = int(lengths.max() - lengths.min()) <= 1
        super().__init__(node, bases, node.share.lanes if is_level else range(layout.num_lanes))
        self._steps = node.order.steps
        self._block = node.stride
        self._step_rows = self._size * len(self._readers) // layout.num_lanes  # of the lanes that are read
        node.log.total = None if layout.is_endless else layout.total
        marked = 0 if node.mark is None else node.mark.step
        left_out = self._rows_before(node.first_step) - self._rows_before(marked)
        for lane, reader in self._readers.items():
            reader.skip(int(left_out[lane]))
        self._rounds = self._rounds_from_here()

    @override
    def next(self) -> Rows | None:
        first = self._step
        if self._steps is not None and first >= self._steps:
            return None
        stop = first + self._block if self._steps is None else min(first + self._block, self._steps)
        self._step = stop
        self._block = max(self._block, min(2 * self._block, _MOST_ROWS // self._size))
        steps = np.arange(first + -(first - self._node.first_step) % self._node.stride, stop, self._node.stride)
        if self._rounds is not None:
            if stop * self._step_rows <= self._rounds.end:
                return self._of_rounds(self._rounds, stop - first, steps - first)
            self._leave_rounds(self._rounds)
        positions = (steps[:, None] * self._size + self._offsets).reshape(-1)
        rows = self._taken(first, stop, positions[positions < self._layout.total])
        past_end = positions[positions >= self._layout.total]
        if len(past_end) and self._node.order.plan.end_of_epoch == "pad":
            rows = [*rows, self._again(past_end % self._layout.total)]
        return join(rows) if rows else np.empty(0, np.int64)

    @override
    def state(self) -> dict[str, Any]:
        return super().state() if self._rounds is None else {"step": self._step, "lanes": self._rounds.states()}

    @override
    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        self._rounds = self._rounds_from_here()

    def _rounds_from_here(self) -> LaneRounds | None:
        """The references of the next steps, as long as all lanes have rows."""
        if self._bases is None:
            return None
        end = len(self._readers) * int(self._layout.lengths.min())
        return LaneRounds([*self._readers.values()], self._step * self._step_rows, end)

    def _leave_rounds(self, rounds: LaneRounds) -> None:
        """Go on lane by lane where some of them end."""
        for reader, state in zip(self._readers.values(), rounds.states(), strict=True):
            reader.load(state)
        self._rounds = None

    def _of_rounds(self, rounds: LaneRounds, count: int, steps: NDArray[np.int64]) -> NDArray[np.int64]:
        """References of some of the next `count` steps, where all lanes still have rows."""
        by_step = rounds.take(count * self._step_rows).reshape(count, -1)
        if len(steps) < count:
            by_step = by_step[steps]
        if by_step.shape[1] > len(self._offsets):  # the lanes of all ranks
            by_step = by_step[:, self._offsets]
        return by_step.reshape(-1)

    def _taken(self, first: int, stop: int, positions: NDArray[np.int64]) -> list[Rows]:
        """Take all rows of some steps out of the lanes, and keep those at some positions."""
        before, after = self._rows_before(first), self._rows_before(stop)
        pieces, starts = [], np.zeros(len(before), np.int64)
        taken = 0
        for lane, reader in self._readers.items():
            starts[lane] = taken - before[lane]
            count = int(after[lane] - before[lane])
            if count:
                pieces.append(self._read(reader, count))
                taken += count
        if not len(positions):
            return []
        lanes, indices = self._layout.locate(positions)
        return [pick(pieces, starts[lanes] + indices)]

    def _again(self, positions: NDArray[np.int64]) -> Rows:
        """Rows at the begin of the epoch."""
        lanes, indices = self._layout.locate(positions)
        pieces, starts, taken = [], np.zeros(self._layout.num_lanes, np.int64), 0
        for lane in np.unique(lanes).tolist():
            starts[lane] = taken
            piece = self._read(self._reader(lane), int(indices[lanes == lane].max()) + 1)
            pieces.append(piece)
            taken += count_rows(piece)
        return pick(pieces, starts[lanes] + indices)

    def _rows_before(self, step: int) -> NDArray[np.int64]:
        return self._layout.rows_before(min(step * self._size, self._layout.total))


class _UncountedCursor(_RankCursor):
    """A pass over one lane whose end is found by reading: a step at a time."""

    def __init__(self, node: RankRows, bases: Bases | None) -> None:
        super().__init__(node, bases, range(1))
        marked = 0 if node.mark is None else node.mark.step
        self._readers[0].skip((node.first_step - marked) * self._size)

    @override
    def next(self) -> Rows | None:
        log, plan = self._node.log, self._node.order.plan
        while log.total is None or self._step < steps_of(log.total, plan):
            step, reader = self._step, self._readers[0]
            rows = self._read(reader, self._size)
            found = 0 if rows is None else count_rows(rows)
            self._step += 1
            if found < self._size:
                log.total = step * self._size + found
                if found == 0 or plan.end_of_epoch == "drop":
                    return None
            if self._bases is None:
                log.marks[self._step] = Mark(self._step, (reader.state(),))
            if (step - self._node.first_step) % self._node.stride == 0:
                return self._mine(rows, found)
        return None

    def _mine(self, rows: Rows, found: int) -> Rows:
        """The part of the rank; where offsets are a run, without a copy."""
        start = int(self._offsets[0]) if len(self._offsets) else 0
        mine = cut(rows, min(start, found), min(start + len(self._offsets), found))
        missing = len(self._offsets) - count_rows(mine)
        if not missing or self._node.order.plan.end_of_epoch != "pad":
            return mine
        total = self._node.log.total
        assert total is not None
        positions = (self._step - 1) * self._size + self._offsets[-missing:]
        again = positions % total
        return join([mine, pick([self._read(self._reader(0), int(again.max()) + 1)], again)])
