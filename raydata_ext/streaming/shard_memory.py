"""Rows of shards that were read and are not delivered yet, where each can be read again from its place."""

from __future__ import annotations

import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.errors import StateError
from raydata_ext.streaming.kept_rows import KeptRows
from raydata_ext.streaming.nodes.base import StatelessCursor
from raydata_ext.streaming.nodes.round_robin import RoundRobinCursor
from raydata_ext.streaming.nodes.shard_source import ShardCursor
from raydata_ext.streaming.row_memory import ENDS_EARLIER, Memory
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.rows import BATCH_ROWS, COPIED_BYTES
from raydata_ext.streaming.shards import ReadShard

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from raydata_ext.streaming.rows import References
    from raydata_ext.streaming.shards import StreamShard

_SHARD_BITS = 40
"""Of a reference, these say where in its shard the row is, and those above which shard it is of."""

_PLACES = (1 << _SHARD_BITS) - 1

_UNITS_AT_A_TIME = 8


class ShardMemory(StatelessCursor, Memory):
    """References to the rows of groups of shards, one row of each group in turn.

    A reference is the place of the row: shard, unit (a part that can be read without those before it), and row in the
    unit. So nothing need be saved of a row that waits but its reference, and to resume, only units in which rows wait
    are read again.

    Args:
        groups: the shards of each group, in the order in which they are read.
    """

    def __init__(self, groups: Sequence[Sequence[StreamShard]]) -> None:
        self._shards = [shard for group in groups for shard in group]
        self._kept = KeptRows()
        self._lost: References = np.empty(0, np.int64)  # wait and were not read again yet; ascending
        firsts = accumulate(map(len, groups), initial=0)
        own = weakref.proxy(self)  # without a cycle, files and threads end as soon as a pass is dropped
        self._groups = [RowReader(_PlaceCursor(own, group, n)) for group, n in zip(groups, firsts, strict=False)]
        super().__init__(RoundRobinCursor(self._groups))

    @override
    def next(self) -> References | None:
        references: References | None = self._input.next()
        return references

    @override
    def gather(self, references: References) -> pa.RecordBatch:
        references = references[:BATCH_ROWS]
        if len(self._lost):
            self._read_again(np.sort(references[np.isin(references, self._lost)]))
        return self._kept.gather(references, COPIED_BYTES)

    @override
    def forget(self, waiting: References) -> None:
        at_hand = [rows for group in self._groups if (rows := group.at_hand()) is not None]
        if len(self._lost):
            waiting = waiting[~np.isin(waiting, self._lost)]
        self._kept.keep_only([waiting, *at_hand])

    @override
    def mark(self, waiting: References) -> dict[str, Any]:
        return {"schema": self._kept.schema}

    @override
    def recall(self, mark: dict[str, Any], waiting: References) -> None:
        self._kept = KeptRows(mark["schema"])
        self._lost = np.sort(waiting)

    def keep(self, number: int, unit: int, row: int, batch: pa.RecordBatch) -> References:
        """Keep rows that were read.

        Args:
            number: of the shard.
            unit: of the shard.
            row: place of the first row in the unit.
            batch: the rows.

        Returns:
            Their references.
        """
        first = (number << _SHARD_BITS) + (unit << self._row_bits(number)) + row
        references = np.arange(first, first + batch.num_rows)
        self._kept.add(references, batch)
        self._take_from_lost(first, first + batch.num_rows)
        return references

    def _read_again(self, references: References) -> None:
        """Read all waiting rows of the units that some lost rows are in; of files, several units at a time.

        Args:
            references: of the lost rows, ascending.
        """
        units: list[tuple[int, int, References]] = []  # shard, unit, and waiting rows of it by their numbers in it
        end = 0  # of the unit before
        for reference in references.tolist():
            if reference < end:
                continue
            number, place = reference >> _SHARD_BITS, reference & _PLACES
            bits = self._row_bits(number)
            first = reference >> bits << bits
            end = first + (1 << bits)
            units.append((number, place >> bits, self._take_from_lost(first, end) - first))
        are_files = all(isinstance(self._shards[number], ReadShard) for number, _, _ in units)
        with ThreadPoolExecutor(_UNITS_AT_A_TIME) as threads:  # where a user's function would not expect to be called
            found = threads.map(self._rows_of_unit, units) if are_files else map(self._rows_of_unit, units)
            for (number, unit, rows), batches in zip(units, found, strict=True):
                if sum(batch.num_rows for batch in batches) < len(rows):
                    raise StateError(ENDS_EARLIER)
                references = rows + (number << _SHARD_BITS) + (unit << self._row_bits(number))
                for batch in batches:
                    self._kept.add(references[: batch.num_rows], batch)
                    references = references[batch.num_rows :]

    def _rows_of_unit(self, wanted: tuple[int, int, References]) -> list[pa.RecordBatch]:
        number, unit, rows = wanted
        return list(self._shards[number].read_rows(unit, rows))

    def _take_from_lost(self, start: int, stop: int) -> References:
        low, high = self._lost.searchsorted([start, stop])
        found = self._lost[low:high]
        if len(found):
            self._lost = np.delete(self._lost, slice(low, high))
        return found

    def _row_bits(self, number: int) -> int:
        return _SHARD_BITS - (self._shards[number].num_units - 1).bit_length()


class _PlaceCursor(StatelessCursor):
    """References to the rows of some shards, which are read and put into a memory.

    Args:
        memory: is given the rows.
        shards: what is read.
        first: number of the first shard, for the memory.
    """

    def __init__(self, memory: ShardMemory, shards: Sequence[StreamShard], first: int) -> None:
        super().__init__(ShardCursor(shards))
        self._memory = memory
        self._first = first

    @override
    def next(self) -> References | None:
        batch = self._input.next()
        if batch is None:
            return None
        shard, unit, row = self._input.place
        return self._memory.keep(self._first + shard, unit, row - batch.num_rows, batch)
