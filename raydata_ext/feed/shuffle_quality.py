"""How well an epoch is shuffled, measured on references: how far rows travel, how many shards a batch is made of."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from raydata_ext.feed.plan import FeedPlan
from raydata_ext.feed.rank_rows import RankRows
from raydata_ext.feed.share import Share
from raydata_ext.streaming.row_reader import RowReader

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raydata_ext.streaming import IterableDataset

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
        most = max(1, min(self.num_shards, self.global_batch_size))
        places = _Panel(
            f"place in the data, over place in the epoch: mean displacement {self.displacement:.3f} of the epoch",
            self.places,
            "#246",
        )
        batches = _Panel(
            f"shards in a batch of {self.global_batch_size}, 0 to {most}, over place in the epoch:"
            f" mean {self.mean_shards_per_batch:.1f}",
            self.shards_per_batch / most,
            "#a40",
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH + 2 * _EDGE}" height="{2 * _HEIGHT + 3 * _EDGE}"'
            f' font-family="sans-serif"><rect width="100%" height="100%" fill="white"/>'
            f"{places.to_svg(_EDGE)}{batches.to_svg(2 * _EDGE + _HEIGHT)}</svg>"
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
    starts = order.shard_starts
    shards = starts.searchsorted(references, side="right") - 1
    steps = len(references) // global_batch_size
    batches = np.sort(shards[: steps * global_batch_size].reshape(steps, global_batch_size), axis=1)
    distinct = (np.diff(batches, axis=1) > 0).sum(axis=1) + 1
    size = max(1, sum(table.num_rows for table in order.tables))
    return ShuffleQuality(references / size, distinct.astype(np.int64), global_batch_size, len(starts))


@dataclass(frozen=True)
class _Panel:
    """Dots in a frame.

    Attributes:
        title: stands above it.
        heights: of the dots, from 0 to 1, from left to right; float64, shape (n,).
        colour: of the dots.
    """

    title: str
    heights: NDArray[np.float64]
    colour: str

    def to_svg(self, top: int) -> str:
        """The panel, from this place downwards."""
        shown = _sample(len(self.heights))
        xs = (_EDGE + shown / max(1, len(self.heights)) * _WIDTH).round(1).tolist()
        ys = (top + (1 - self.heights[shown]) * _HEIGHT).round(1).tolist()
        dots = "".join(f"M{x} {y}h0" for x, y in zip(xs, ys, strict=True))
        return (
            f'<text x="{_EDGE}" y="{top - 10}" font-size="13">{escape(self.title)}</text>'
            f'<rect x="{_EDGE}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="#bbb"/>'
            f'<path d="{dots}" stroke="{self.colour}" stroke-width="2" stroke-linecap="round"/>'
        )


def _sample(size: int) -> NDArray[np.int64]:
    """Some of so many places, spread evenly; each by chance, since a fixed distance would show a pattern with lanes."""
    if size <= _POINTS:
        return np.arange(size)
    return ((np.arange(_POINTS) + np.random.default_rng(0).random(_POINTS)) * size / _POINTS).astype(np.int64)
