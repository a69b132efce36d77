"""A table that many shards select rows from: a worker that is given it again and again opens its files once.

It is pickled once, too, however many shards there are. The pickled table is what travels, and whoever unpickles it
looks whether this very one is at hand.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import cloudpickle

if TYPE_CHECKING:
    from collections.abc import Callable

    from raydata_ext.plan.table_shard import TableShard

_MOST_TABLES = 2
"""A shuffled data set is one table; parts of it that are close together in the files have tables of their own."""


@dataclass(frozen=True, eq=False)
class SharedShard:
    """Rows of a table as the base of others.

    Attributes:
        shard: the rows.
    """

    shard: TableShard

    def __reduce__(self) -> tuple[Callable[[bytes], SharedShard], tuple[bytes]]:
        return _unpickled, (self._pickled,)

    @functools.cached_property
    def _pickled(self) -> bytes:
        pickled: bytes = cloudpickle.dumps(self.shard)
        return pickled


@functools.lru_cache(maxsize=_MOST_TABLES)
def _unpickled(pickled: bytes) -> SharedShard:
    return SharedShard(cloudpickle.loads(pickled))


def let_go_of_tables() -> None:
    """Forget the tables that this process has at hand; their files are closed once nobody reads them."""
    _unpickled.cache_clear()
