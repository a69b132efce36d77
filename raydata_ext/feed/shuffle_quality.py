"""How well an epoch is shuffled, measured on references: how far rows travel, how many shards a batch is made of."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from raydata_ext.feed.plan import FeedPlan
from raydata_ext.feed.rank_rows import RankRows
from raydata_ext.feed.share import Share
from raydata_ext.streaming.nodes.table_source import TableSource
from raydata_ext.streaming.row_reader import RowReader

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raydata_ext.streaming import IterableDataset
    from raydata_ext.streaming.nodes.base import Node

_POINTS = 4000
"""Rows that a picture shows at most."""

_WIDTH, _HEIGHT, _EDGE = 720, 320, 40


@dataclass(frozen=True)
class ShuffleQuality:
    """What was measured.

    Attributes:
        places: where each row stands in the data, as a share of all rows, in the order of delivery; float64, shape
            (rows,).
        shards_per_batch: number of different shards of each full batch; int64, shape (steps,).
        global_batch_size: rows of a batch.
        num_shards: number of shards.
    """

    places: NDArray[np.float64]
    shards_per_batch: NDArray[np.int64]
    global_batch_size: int
    num_shards: int

    @property
    def displacement(self) -> float:
        """How far a row travels on average, as a share of the epoch; 0 where nothing is shuffled, a third at best."""
        delivered = np.arange(len(self.places)) / max(1, len(self.places))
        return float(np.abs(self.places - delivered).mean()) if len(self.places) else 0.0

    @property
    def mean_shards_per_batch(self) -> float:
        """Different shards of a batch on average."""
        return float(self.shards_per_batch.mean()) if len(self.shards_per_batch) else 0.0

    def to_svg(self) -> str:
        """A picture of it: place in the data over place in the epoch, and shards per batch below."""
        size = len(self.places)
        shown = np.linspace(0, size - 1, min(size, _POINTS)).astype(int)
        dots = _dots(shown / max(1, size), self.places[shown], _EDGE)
        batches = self.shards_per_batch
        shown = np.linspace(0, len(batches) - 1, min(len(batches), _POINTS)).astype(int)
        most = min(self.num_shards, self.global_batch_size)
        steps = _dots(shown / max(1, len(batches)), batches[shown] / max(1, most), 2 * _EDGE + _HEIGHT)
        texts = [
            (
                _EDGE - 10,
                f"place in the data over place in the epoch; mean displacement {self.displacement:.3f} of the epoch",
            ),
            (
                2 * _EDGE + _HEIGHT - 10,
                f"shards per batch of {self.global_batch_size}, 0 to {most}; mean {self.mean_shards_per_batch:.1f}",
            ),
        ]
        labels = "".join(f'<text x="{_EDGE}" y="{y}" font-size="13">{escape(text)}</text>' for y, text in texts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH + 2 * _EDGE}" height="{2 * _HEIGHT + 3 * _EDGE}"'
            f' font-family="sans-serif"><rect width="100%" height="100%" fill="white"/>{labels}'
            f'<path d="{dots}" stroke="#246" stroke-width="2" stroke-linecap="round"/>'
            f'<path d="{steps}" stroke="#a40" stroke-width="2" stroke-linecap="round"/></svg>'
        )


def shuffle_quality(
    stream: IterableDataset, *, global_batch_size: int, num_lanes: int | None = None, epoch: int = 0
) -> ShuffleQuality:
    """Measure an epoch without reading a row of it.

    Args:
        stream: the stream, as a coordinator is given it.
        global_batch_size: rows of a step.
        num_lanes: number of lanes.
        epoch: number of the epoch.

    Raises:
        ValueError: the order of the stream cannot be had without reading its rows, or has no end.
    """
    plan = FeedPlan.of(stream, global_batch_size=global_batch_size, num_lanes=num_lanes, end_of_epoch="uneven")
    order = plan.epoch(epoch)
    bases = order.bases
    if bases is None or (order.layout is not None and order.layout.is_endless):
        raise ValueError("the order of this stream cannot be measured: it is found by reading rows, or has no end")
    rows = RowReader(RankRows(order, Share(0, 1, plan.num_lanes, global_batch_size)).open(bases)).read(None)
    references = np.empty(0, np.int64) if rows is None else rows
    starts = np.unique(np.concatenate([source.runs[:, 0] + bases[id(source.table)] for source in _sources(plan.node)]))
    shards = starts.searchsorted(references, side="right") - 1
    steps = len(references) // global_batch_size
    batches = np.sort(shards[: steps * global_batch_size].reshape(steps, global_batch_size), axis=1)
    distinct = (np.diff(batches, axis=1) > 0).sum(axis=1) + 1
    size = max(1, sum(table.num_rows for table in order.tables))
    return ShuffleQuality(references / size, distinct.astype(np.int64), global_batch_size, len(starts))


def _sources(node: Node) -> list[TableSource]:
    if isinstance(node, TableSource):
        return [node]
    return [source for child in node.children for source in _sources(child)]


def _dots(across: NDArray[np.float64], up: NDArray[np.float64], top: int) -> str:
    xs = (_EDGE + across * _WIDTH).round(1).tolist()
    ys = (top + (1 - up) * _HEIGHT).round(1).tolist()
    return "".join(f"M{x} {y}h0" for x, y in zip(xs, ys, strict=True))
