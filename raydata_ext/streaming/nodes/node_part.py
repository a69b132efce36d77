"""The part of a stream that one node of a cluster reads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from typing_extensions import override

from raydata_ext.streaming.nodes.base import Bases, Cursor, Node, Wrapper
from raydata_ext.streaming.nodes.every_nth import EveryNth, Remainder
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.nodes.transform import below_row_steps

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from raydata_ext.streaming.seeds import Seed
    from raydata_ext.table import Table

SplitStrategy: TypeAlias = Literal["auto", "shards", "rows"]


@dataclass(frozen=True, eq=False)
class NodePart(Wrapper):
    """What rank `rank` of `world_size` reads.

    The epoch comes first: shards are dealt in the order that they have in the epoch. All else is asked of the part.

    Attributes:
        rank: 0 <= rank < world_size.
        world_size: number of parts.
        strategy: `"shards"` deals whole shards, `"rows"` deals row by row, `"auto"` deals shards where each rank gets
            equally many of them.
        remainder: what becomes of a last round of rows, see `EveryNth`.
    """

    rank: int
    world_size: int
    strategy: SplitStrategy
    remainder: Remainder

    @cached_property
    def part(self) -> Node:
        """The part, as a node."""
        if self._deals_shards:
            return self.child.shard_data_sources(self.world_size, self.rank)
        return below_row_steps(self.child, lambda child: EveryNth(child, self.world_size, self.rank, self.remainder))

    @property
    @override
    def num_shards(self) -> int:
        return self.part.num_shards

    @property
    @override
    def num_rows(self) -> int | None:
        return self.part.num_rows

    @property
    @override
    def schema(self) -> pa.Schema | None:
        return self.part.schema

    @property
    @override
    def settings(self) -> Mapping[str, Any]:
        strategy = "shards" if self._deals_shards else f"rows, {self.remainder}"
        return {"rank": self.rank, "world_size": self.world_size, "strategy": strategy}

    @override
    def shuffle_data_sources(self, seed: Seed) -> Node:
        return self.part.shuffle_data_sources(seed)

    @override
    def shard_data_sources(self, count: int, index: int, *, contiguous: bool = False) -> Node:
        return self.part.shard_data_sources(count, index, contiguous=contiguous)

    @override
    def reshard_data_sources(self, count: int | None = None) -> Node:
        return self.part.reshard_data_sources(count)

    @override
    def split(self, count: int, index: int) -> Node:
        return self.part.split(count, index)

    @override
    def shift_seeds(self, by: int) -> Node:
        return self.part.shift_seeds(by)

    @property
    @override
    def indexed(self) -> bool:
        return self.part.indexed

    @property
    @override
    def tables(self) -> tuple[Table, ...]:
        return self.part.tables

    @override
    def open(self, bases: Bases | None) -> Cursor:
        return open_rows(self.part, bases)

    @property
    def _deals_shards(self) -> bool:
        shards = self.child.num_shards
        return self.strategy == "shards" or (self.strategy == "auto" and shards > 0 and shards % self.world_size == 0)
