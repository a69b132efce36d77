"""Lanes: the stream, cut into runs of rows of equal length, each of which is a whole stream of its own.

Each source's shards are permuted for the epoch and laid end to end, and lane i of n gets the i-th of n equal runs of
their rows; a shard that lies across a border is cut. The whole tree runs once per lane over its runs, with random
numbers of its own. All of it is arithmetic on the bounds of shards: nothing is read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from raydata_ext.feed.mixture import Mixture
from raydata_ext.streaming.nodes.buffer_shuffle import BufferShuffle
from raydata_ext.streaming.nodes.concat import Concat
from raydata_ext.streaming.nodes.interleave import Interleave
from raydata_ext.streaming.nodes.table_source import TableSource
from raydata_ext.streaming.nodes.transform import Transform
from raydata_ext.streaming.order import before_permutation
from raydata_ext.streaming.seeds import MixedSeed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from raydata_ext.streaming.nodes.base import Node
    from raydata_ext.streaming.seeds import Seed


@dataclass(frozen=True, eq=False)
class _Shards:
    """Shards of tables in the order in which they are read.

    Attributes:
        sources: the tables.
        source_of: number of the source of each shard; int64, shape (shards,).
        runs: first and end row of each shard in its table; int64, shape (shards, 2).
    """

    sources: tuple[TableSource, ...]
    source_of: NDArray[np.int64]
    runs: NDArray[np.int64]


def lane_limit(node: Node) -> int | None:
    """Into how many lanes a stream can be cut, which is the number of rows of its smallest source; None for not at all.

    A stream can be cut where its rows are those of tables, shuffled, mixed, joined, and changed row by row; not where
    it counts rows, or where rows are left out or made.
    """
    if _can_be_shards(node):
        return max(1, sum(source.num_rows for source in table_sources(node)))
    if isinstance(node, BufferShuffle):
        return lane_limit(node.child) if _can_be_shards(node.child) else None
    if isinstance(node, Transform):
        return lane_limit(node.child) if node.is_row_by_row else None
    if isinstance(node, Interleave | Mixture | Concat):
        limits = [lane_limit(child) for child in node.children]
        return None if None in limits else min(limit for limit in limits if limit is not None)
    return None


def is_shuffled(node: Node) -> bool:
    """Whether anything in a stream is shuffled."""
    return isinstance(node, BufferShuffle) or any(is_shuffled(child) for child in node.children)


def table_sources(node: Node) -> list[TableSource]:
    """The tables that a stream reads, in its order."""
    if isinstance(node, TableSource):
        return [node]
    return [source for child in node.children for source in table_sources(child)]


def lane_nodes(node: Node, epoch: int, num_lanes: int) -> list[Node]:
    """The lanes of an epoch.

    Args:
        node: a stream that can be cut.
        epoch: number of the epoch.
        num_lanes: at most `lane_limit`.

    Returns:
        A node for each lane. A single one is the plain stream of the epoch.
    """
    if num_lanes == 1:
        return [node.at_epoch(epoch) if epoch else node]
    if isinstance(node, BufferShuffle):
        shards = _permuted(_before_shuffle(_shards(node.child), node.seed), [node.seed.value, epoch])
        return [
            replace(node, child=child, seed=MixedSeed(node.seed.value, (epoch, lane)))
            for lane, child in enumerate(_cut(shards, num_lanes))
        ]
    if isinstance(node, Transform):
        return [replace(node, child=child) for child in lane_nodes(node.child, epoch, num_lanes)]
    if isinstance(node, Interleave | Mixture):
        children = zip(*(lane_nodes(child, epoch, num_lanes) for child in node.children), strict=True)
        return [
            replace(node.with_children(parts), seed=MixedSeed(node.seed.value, (epoch, lane)))
            for lane, parts in enumerate(children)
        ]
    if isinstance(node, Concat) and not _can_be_shards(node):
        children = zip(*(lane_nodes(child, epoch, num_lanes) for child in node.children), strict=True)
        return [node.with_children(parts) for parts in children]
    return _cut(_shards(node), num_lanes)


def _can_be_shards(node: Node) -> bool:
    return isinstance(node, TableSource) or (isinstance(node, Concat) and all(map(_can_be_shards, node.parts)))


def _shards(node: Node) -> _Shards:
    leaves = table_sources(node)
    tables = list({id(leaf.table): leaf for leaf in leaves}.values())
    number = {id(source.table): i for i, source in enumerate(tables)}
    source_of = np.repeat([number[id(leaf.table)] for leaf in leaves], [len(leaf.runs) for leaf in leaves])
    return _Shards(tuple(tables), source_of.astype(np.int64), np.concatenate([leaf.runs for leaf in leaves]))


def _before_shuffle(shards: _Shards, seed: Seed) -> _Shards:
    """The shards as they were before `IterableDataset.shuffle` permuted them."""
    order = before_permutation(len(shards.runs), seed)
    return replace(shards, source_of=shards.source_of[order], runs=shards.runs[order])


def _permuted(shards: _Shards, seed: Sequence[int]) -> _Shards:
    order = np.random.default_rng(seed).permutation(len(shards.runs))
    return replace(shards, source_of=shards.source_of[order], runs=shards.runs[order])


def _cut(shards: _Shards, num_lanes: int) -> list[Node]:
    """Equal runs of the rows of all shards, the first ones a row longer; a piece of a shard is a shard of its lane."""
    ends = np.cumsum(shards.runs[:, 1] - shards.runs[:, 0])
    starts = ends - (shards.runs[:, 1] - shards.runs[:, 0])
    size, extra = divmod(int(ends[-1]) if len(ends) else 0, num_lanes)
    lanes: list[Node] = []
    for lane in range(num_lanes):
        low = size * lane + min(lane, extra)
        high = low + size + (lane < extra)
        first = int(ends.searchsorted(low, side="right"))
        last = int(starts.searchsorted(high, side="left"))
        pieces = shards.runs[first:last].copy()
        pieces[:, 0] += np.maximum(low - starts[first:last], 0)
        pieces[:, 1] -= np.maximum(ends[first:last] - high, 0)
        has_rows = pieces[:, 1] > pieces[:, 0]
        lanes.append(_source_of(shards, shards.source_of[first:last][has_rows], pieces[has_rows]))
    return lanes


def _source_of(shards: _Shards, source_of: NDArray[np.int64], runs: NDArray[np.int64]) -> Node:
    """Pieces of shards as one node; neighbours of one table are one source."""
    borders = np.flatnonzero(np.diff(source_of)) + 1
    parts = [
        replace(shards.sources[int(source_of[first])], runs=runs[first:end])
        for first, end in zip(np.append(0, borders), np.append(borders, len(runs)), strict=True)
        if first < end
    ]
    if not parts:
        return replace(shards.sources[0], runs=runs)
    return parts[0] if len(parts) == 1 else Concat(tuple(parts))
