"""Shards that are read front to back: files, or a user's generator."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from raydata_ext.fingerprint import combine
from raydata_ext.streaming.known import known_schema, known_sum
from raydata_ext.streaming.nodes.base import Bases, Cursor, Node
from raydata_ext.streaming.nodes.every_nth import EveryNth
from raydata_ext.streaming.order import dealt, permutation
from raydata_ext.streaming.shards import counted, typed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from raydata_ext.streaming.seeds import Seed
    from raydata_ext.streaming.shards import StreamShard

logger = logging.getLogger(__name__)

_FOOTERS_AT_A_TIME = 16
"""How many files are opened side by side to see where they can be cut, or how many rows they have."""


@dataclass(frozen=True, eq=False)
class ShardSource(Node):
    """Shards, read one after the other.

    Attributes:
        shards: in the order in which they are read.
    """

    shards: tuple[StreamShard, ...]

    @property
    @override
    def num_shards(self) -> int:
        return len(self.shards)

    @property
    @override
    def num_rows(self) -> int | None:
        return known_sum(shard.num_rows for shard in self.shards)

    @property
    @override
    def schema(self) -> pa.Schema | None:
        return known_schema(shard.schema for shard in self.shards)

    @property
    @override
    def settings(self) -> Mapping[str, Any]:
        return {"data": combine("shards", *(shard.identity for shard in self.shards)), "num_shards": self.num_shards}

    @override
    def shuffle_data_sources(self, seed: Seed) -> ShardSource:
        return ShardSource(tuple(self.shards[i] for i in permutation(len(self.shards), seed)))

    @override
    def shard_data_sources(self, count: int, index: int, *, contiguous: bool = False) -> ShardSource:
        mine = dealt(len(self.shards), count, index, contiguous=contiguous)
        return ShardSource(self.shards[mine.start : mine.stop : mine.step])

    @override
    def reshard_data_sources(self, count: int | None = None) -> ShardSource:
        if count is not None and count <= len(self.shards):
            return self
        parts = None if count is None else -(-count // max(1, len(self.shards)))
        with ThreadPoolExecutor(_FOOTERS_AT_A_TIME) as threads:
            cut = threads.map(lambda shard: shard.cut(parts), self.shards)
            return ShardSource(tuple(part for of_shard in cut for part in of_shard))

    @override
    def split(self, count: int, index: int) -> Node:
        """Every count-th shard, cut where there are too few; every count-th row where they cannot be cut."""
        if len(self.shards) >= count:
            return self.shard_data_sources(count, index)
        finer = self.reshard_data_sources(count)
        if len(finer.shards) >= count:
            return finer.shard_data_sources(count, index)
        if index == 0 and self.shards:
            logger.warning(
                "%s cannot be cut for %d readers: each of them reads all rows and keeps its part; give it %d shards"
                " (lists in gen_kwargs, or as many files), or fewer readers",
                self.shards[0].label,
                count,
                count,
            )
        return EveryNth(self, count, index)

    @override
    def counted(self) -> ShardSource:
        return self._with_footers(counted)

    @override
    def typed(self) -> ShardSource:
        return self._with_footers(typed)

    @override
    def open(self, bases: Bases | None) -> ShardCursor:
        assert bases is None, "these rows have no references"
        return ShardCursor(self.shards)

    def _with_footers(self, read: Callable[[StreamShard], StreamShard]) -> ShardSource:
        with ThreadPoolExecutor(_FOOTERS_AT_A_TIME) as threads:
            return ShardSource(tuple(threads.map(read, self.shards)))


class ShardCursor(Cursor):
    """The record batches of shards; one shard is open at a time.

    Args:
        shards: what is read.
    """

    def __init__(self, shards: Sequence[StreamShard]) -> None:
        self._shards = shards
        self._shard = 0
        self._unit = 0
        self._row = 0
        self._batches: Iterator[tuple[int, pa.RecordBatch]] | None = None

    @property
    def place(self) -> tuple[int, int, int]:
        """Number of the shard, of the unit in it, and of the row in the unit that follows the last piece."""
        return self._shard, self._unit, self._row

    @override
    def next(self) -> pa.RecordBatch | None:
        while self._shard < len(self._shards):
            batches = self._batches or self._shards[self._shard].read_from(self._unit, self._row)
            self._batches = None  # those that failed look as if they had ended
            found = next(batches, None)
            if found is not None:
                self._batches = batches
                unit, batch = found
                if unit != self._unit:
                    self._unit, self._row = unit, 0
                self._row += batch.num_rows
                return batch
            self._shard += 1
            self._unit = self._row = 0
        return None

    @override
    def state(self) -> dict[str, Any]:
        return {"shard": self._shard, "unit": self._unit, "row": self._row}

    @override
    def load(self, state: dict[str, Any]) -> None:
        self._shard, self._unit, self._row = state["shard"], state["unit"], state["row"]
        self._batches = None
