"""The place where a rank reads: its references become rows, and what was read for that is counted."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from typing_extensions import override

from raydata_ext.feed.copies_ahead import CopiesAhead, ReferencesAhead
from raydata_ext.feed.epoch_log import EpochLog, LoggedCursor
from raydata_ext.streaming.nodes.base import Bases, Cursor, StatelessCursor, Wrapper
from raydata_ext.streaming.nodes.gather import GatherCursor
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.rows import batch_of_table
from raydata_ext.table import concat_tables

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from raydata_ext.feed.rank_rows import RankRows
    from raydata_ext.streaming.rows import Rows
    from raydata_ext.table import Table

    References = NDArray[np.int64]

_GATHERED_ROWS = 1 << 13
_GATHERED_BYTES = 4 << 20
"""Rows, and bytes of rows, that are gathered at a time; beyond that, a call costs little a row."""

_BLOCKS_A_SHARD = 16


@dataclass(frozen=True, eq=False)
class RankReads(Wrapper):
    """The rows of a rank as record batches.

    Attributes:
        child: which rows.
        copies: of files that are not on this machine; None where there are no references.
    """

    child: RankRows
    copies: CopiesAhead | None

    @override
    def open(self, bases: Bases | None) -> Cursor:
        return _TimedCursor(self._opened(), self.child.log)

    def _opened(self) -> Cursor:
        order = self.child.order
        bases = order.bases
        if bases is None:
            return self.child.open(None)
        references = self.child.open(bases)
        if self.copies is not None and self.copies.has_files:
            references = ReferencesAhead(references, self.copies)
        shards = TouchedShards(order.shard_starts, sum(table.num_rows for table in order.tables))
        rows = _CountedGather(concat_tables(order.tables), shards, self.child.log)
        if order.layout is None:
            return GatherCursor(references, rows.gather)
        return _GatheredSteps(references, rows, len(self.child.share.offsets))


class _CountedGather:
    """Gathers rows of a table, and notes in a log what was read.

    Args:
        table: reference i is its row i.
        shards: the shards of the table.
        log: what a pass finds out.
    """

    def __init__(self, table: Table, shards: TouchedShards, log: EpochLog) -> None:
        self._table = table
        self._shards = shards
        self._log = log

    def gather(self, references: References) -> pa.RecordBatch:
        """All rows that are referred to; where they lie next to one another in a record batch, zero-copy."""
        first, count = int(references[0]), len(references)
        is_run = int(references[-1]) - first == count - 1 and bool((np.diff(references) == 1).all())
        rows = self._table.fast_slice(first, count) if is_run else self._table.fast_gather(references)
        batch = batch_of_table(rows)
        self._log.shards_read += self._shards.add(references)
        self._log.bytes_read += batch.nbytes
        return batch


class TouchedShards:
    """Which shards some rows are of, found in nanoseconds a row.

    Rows are looked up in blocks, of which most lie within one shard and need be looked at only once.

    Args:
        starts: first reference of each shard, ascending; int64, shape (shards,).
        num_rows: number of references.
    """

    def __init__(self, starts: References, num_rows: int) -> None:
        self._starts = starts
        self._touched = np.zeros(len(starts), np.bool_)
        self._shift = max(0, (num_rows // max(1, _BLOCKS_A_SHARD * len(starts))).bit_length() - 1)
        self._is_done = np.zeros((num_rows >> self._shift) + 1, np.bool_)

    def add(self, references: References) -> list[int]:
        """Note the shards of some rows.

        Returns:
            Numbers of those that were not touched before.
        """
        blocks = references >> self._shift
        is_open = ~self._is_done.take(blocks)
        if not is_open.any():
            return []
        shards = np.unique(self._starts.searchsorted(references[is_open], side="right") - 1)
        new: list[int] = shards[~self._touched[shards]].tolist()
        self._touched[shards] = True
        self._is_done[blocks[is_open]] = True
        self._is_done[self._starts >> self._shift] = False  # two shards may meet in these
        return new


class _TimedCursor(LoggedCursor):
    """Rows as they come, and in the log how long reading them took."""

    @override
    def next(self) -> Rows | None:
        started = time.perf_counter()
        rows = self._input.next()
        self._log.read_seconds += time.perf_counter() - started
        return rows


class _GatheredSteps(StatelessCursor):
    """Rows of whole steps, gathered together: of one step first, and then of as many as are quick to gather.

    Args:
        references: of the rank.
        rows: gathers them.
        step_rows: rows of a step.
    """

    def __init__(self, references: Cursor, rows: _CountedGather, step_rows: int) -> None:
        super().__init__(RowReader(references))
        self._rows = rows
        self._step_rows = step_rows
        self._steps = 1

    @override
    def next(self) -> pa.RecordBatch | None:
        references = self._input.read(self._steps * self._step_rows)
        if references is None:
            return None
        batch = self._rows.gather(references)
        most = min(_GATHERED_ROWS, _GATHERED_BYTES * len(references) // max(1, batch.nbytes))
        self._steps = max(1, min(2 * self._steps, most // self._step_rows))
        return batch
