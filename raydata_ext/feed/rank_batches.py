"""The batches of one rank: its rows, read, changed row by row, and cut at steps. The one way from plan to rows.

Whoever reads, the trainer's process or a reader actor, runs this.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from typing_extensions import override

from raydata_ext.feed.copies_ahead import CopiesAhead
from raydata_ext.feed.epoch_log import EpochLog, LoggedCursor, Mark
from raydata_ext.feed.plan import steps_of
from raydata_ext.feed.rank_reads import RankReads
from raydata_ext.feed.rank_rows import RankRows
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.row_reader import RowReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from raydata_ext.feed.plan import EpochOrder
    from raydata_ext.feed.share import Share
    from raydata_ext.streaming.nodes.base import Node
    from raydata_ext.streaming.rows import Rows


@dataclass(frozen=True)
class Work:
    """What it took to make a batch. Several batches are read at a time, and the first of them has it all.

    Attributes:
        seconds: time.
        read_seconds: the part of it for finding the order and reading, and not for what is done to each row.
        bytes_read: bytes of the rows that were read.
        bytes_made: bytes of the rows that became of them.
        shards_read: numbers of the shards of tables that were read from and were not before.
    """

    seconds: float = 0.0
    read_seconds: float = 0.0
    bytes_read: int = 0
    bytes_made: int = 0
    shards_read: tuple[int, ...] = ()


@dataclass(frozen=True)
class RankBatch:
    """What a rank receives in a step.

    Attributes:
        step: number of the step in the epoch.
        rows: the rows.
        positions: global position of each row in the epoch; int64, shape (rows,). A padding row has the position past
            the end that it fills.
        is_padding: for each row whether it only fills up the last step; None where none does.
        mark: where the lanes stand after the step; None where that can be had without reading.
        work: what it took.
    """

    step: int
    rows: pa.RecordBatch | None
    positions: NDArray[np.int64]
    is_padding: NDArray[np.bool_] | None
    mark: Mark | None
    work: Work


def rank_batches(
    order: EpochOrder, share: Share, *, first_step: int = 0, stride: int = 1, mark: Mark | None = None
) -> Iterator[RankBatch]:
    """The batches of a rank in an epoch, in order.

    Args:
        order: the epoch.
        share: the part of the rank.
        first_step: the first step.
        stride: only every stride-th step.
        mark: where the lanes stand at `first_step` or before.
    """
    log = EpochLog()
    rows = RankRows(order, share, first_step, stride, mark, log)
    copies = None if order.bases is None else CopiesAhead(order.tables, order.bases)
    node: Node = RankReads(rows, copies)
    for row_step in order.row_steps:
        node = replace(row_step, child=node)
    try:
        yield from _cut_at_steps(RowReader(_MadeRows(open_rows(node, None), log)), rows)
    finally:
        if copies is not None:
            copies.close()


class _MadeRows(LoggedCursor):
    """Rows as they are delivered, and in the log how many bytes they have."""

    @override
    def next(self) -> Rows | None:
        rows = self._input.next()
        if rows is not None:
            self._log.bytes_made += rows.nbytes  # of many steps at a time, since it takes as long for one
        return rows


def _cut_at_steps(reader: RowReader, node: RankRows) -> Iterator[RankBatch]:
    """The rows of a rank, step by step."""
    log, plan, offsets = node.log, node.order.plan, node.share.offsets
    size, step = plan.global_batch_size, node.first_step
    while log.total is None or step < steps_of(log.total, plan):
        started = time.perf_counter()
        positions = step * size + offsets
        if log.total is not None and (step + 1) * size > log.total and plan.end_of_epoch == "uneven":
            positions = positions[positions < log.total]
        rows = reader.read(len(positions)) if len(positions) else None
        found = 0 if rows is None else rows.num_rows
        if found < len(positions):  # only now the end is known
            if log.total is None or step >= steps_of(log.total, plan):
                return
            positions = positions[:found]
        is_padding = None
        if log.total is not None and (step + 1) * size > log.total and (positions >= log.total).any():
            is_padding = positions >= log.total
        work = _work(log, time.perf_counter() - started)
        yield RankBatch(step, rows, positions, is_padding, _mark_after(log, step), work)
        step += node.stride


def _work(log: EpochLog, seconds: float) -> Work:
    """What is noted in the log; it is removed there."""
    if not log.read_seconds:
        return Work(seconds)
    work = Work(seconds, log.read_seconds, log.bytes_read, log.bytes_made, tuple(log.shards_read))
    log.read_seconds, log.bytes_read, log.bytes_made, log.shards_read = 0.0, 0, 0, []
    return work


def _mark_after(log: EpochLog, step: int) -> Mark | None:
    """The mark of the step after this one; older ones are dropped."""
    if not log.marks:
        return None
    found = log.marks.pop(step + 1, None)
    for older in [number for number in log.marks if number <= step]:
        del log.marks[older]
    return found
