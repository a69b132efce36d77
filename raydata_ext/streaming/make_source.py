"""Sources of a stream, of what users have: shards of a plan, tables, a generator function."""

from __future__ import annotations

from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from raydata_ext.plan import TableShard
from raydata_ext.streaming.arrow_files import mapped_where_possible
from raydata_ext.streaming.identity import TableIdentity
from raydata_ext.streaming.nodes.concat import Concat
from raydata_ext.streaming.nodes.shard_source import ShardSource
from raydata_ext.streaming.nodes.table_source import TableSource
from raydata_ext.streaming.shards import GeneratorShard, stream_shard
from raydata_ext.table import InMemoryTable, Table, concat_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from raydata_ext.plan import InputShard
    from raydata_ext.streaming.nodes.base import Node
    from raydata_ext.streaming.shards import StreamShard


def source_of_shards(shards: Iterable[InputShard | StreamShard]) -> Node:
    """Shards in order; those that are tables, or can be mapped as such, can be referred to row by row."""
    parts: list[Node] = []
    for are_tables, group in groupby(mapped_where_possible(shards), key=lambda shard: isinstance(shard, TableShard)):
        run: list[Any] = list(group)
        if are_tables:
            contents = {path: checksum for shard in run for path, checksum in shard.contents}
            parts.append(source_of_tables([shard.table for shard in run], contents=contents))
        else:
            parts.append(ShardSource(tuple(stream_shard(shard) for shard in run)))
    if not parts:
        return ShardSource(())
    return parts[0] if len(parts) == 1 else Concat(tuple(parts))


def source_of_tables(
    tables: Sequence[Table | pa.Table], *, identity: str | None = None, contents: Mapping[str, str] | None = None
) -> TableSource:
    """Tables, each a shard.

    Args:
        tables: one at least.
        identity: hash of what the rows are, if there is one; else it is found of `contents`, names and sizes of files.
        contents: checksums of mapped files by path.
    """
    if not tables:
        raise ValueError("there are no tables to stream; pass one at least")
    own = [InMemoryTable(table) if isinstance(table, pa.Table) else table for table in tables]
    ends = np.array(list(accumulate((table.num_rows for table in own), initial=0)), np.int64)
    whole = concat_tables(own)
    runs = np.stack([ends[:-1], ends[1:]], axis=1)
    return TableSource(whole, runs, TableIdentity(whole, contents or {}, identity))


def source_of_generator(
    function: Callable[..., Iterable[Mapping[str, Any]]], gen_kwargs: Mapping[str, Any], schema: pa.Schema | None
) -> ShardSource:
    """A generator function; lists among its arguments are lists of shards, and each call is given lists of one item.

    Raises:
        ValueError: the lists differ in length, or are empty.
        TypeError: the function is none.
    """
    if not callable(function):
        raise TypeError(f"from_generator needs a function that returns rows, not {type(function).__name__}")
    lengths = {name: len(value) for name, value in gen_kwargs.items() if isinstance(value, list)}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"lists in gen_kwargs are lists of shards and must be of one length, not {lengths}")
    count = next(iter(lengths.values()), 1)
    if count == 0:
        raise ValueError(f"the lists of shards in gen_kwargs are empty: {sorted(lengths)}")
    shards = [
        GeneratorShard(
            function,
            {name: [value[number]] if name in lengths else value for name, value in gen_kwargs.items()},
            number,
            schema,
        )
        for number in range(count)
    ]
    return ShardSource(tuple(shards))
