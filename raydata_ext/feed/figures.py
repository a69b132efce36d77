"""What a feed measures of itself."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from ray.util.metrics import Counter, Gauge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from raydata_ext.feed.rank_batches import RankBatch

STALL_SECONDS = 1e-3
"""A trainer that waits longer for a batch than this has stalled."""


@dataclass
class Figures:
    """Sums since a feed began.

    Attributes:
        batches: batches delivered.
        rows: rows delivered, padding included.
        bytes: their size as Arrow data; of rows that are read together, all of it counts with the first batch.
        bytes_read: size of the rows that were read for that; where a stream makes or leaves out rows, of those that it
            then has.
        shards_read: different shards of tables that they were read from.
        wait_seconds: how long the trainer waited for batches.
        read_seconds: how long it took to find the order and to read, in whatever process.
        transform_seconds: how long what is done to each row took, in whatever process.
        format_seconds: how long the change to the format of the stream took.
        stalls: how often the trainer waited for longer than a millisecond.
        queue_depth: batches that were ready when the last one was asked for.
    """

    batches: int = 0
    rows: int = 0
    bytes: int = 0
    bytes_read: int = 0
    wait_seconds: float = 0.0
    read_seconds: float = 0.0
    transform_seconds: float = 0.0
    format_seconds: float = 0.0
    stalls: int = 0
    queue_depth: int = 0
    _shards: set[int] = field(default_factory=set)

    @property
    def shards_read(self) -> int:
        """See the attributes."""
        return len(self._shards)

    def as_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return {name: getattr(self, name) for name in _NAMES}

    def made(self, batch: RankBatch, format_seconds: float) -> None:
        """Count what it took to make a batch."""
        work = batch.work
        self.bytes_read += work.bytes_read
        self._shards.update(work.shards_read)
        self.read_seconds += work.read_seconds
        self.transform_seconds += work.seconds - work.read_seconds
        self.format_seconds += format_seconds

    def delivered(self, batch: RankBatch, waited: float, ready: int) -> None:
        """Count a batch.

        Args:
            batch: the batch.
            waited: seconds that the trainer waited for it.
            ready: batches that were ready when it was asked for.
        """
        self.batches += 1
        self.rows += len(batch.positions)
        self.bytes += batch.work.bytes_made
        self.wait_seconds += waited
        self.stalls += waited > STALL_SECONDS
        self.queue_depth = ready


_NAMES = (*(one.name for one in fields(Figures) if not one.name.startswith("_")), "shards_read")

_COUNTERS = {
    "rows": "Rows delivered.",
    "bytes": "Bytes delivered.",
    "bytes_read": "Bytes read.",
    "wait_seconds": "Seconds that the trainer waited.",
    "read_seconds": "Seconds that reading took.",
    "transform_seconds": "Seconds that what is done to each row took.",
    "format_seconds": "Seconds that the change of format took.",
    "stalls": "How often the trainer waited for longer than a millisecond.",
}
_GAUGES = {"queue_depth": "Batches that are ready.", "shards_read": "Different shards that were read from."}


class Metrics:
    """The figures of a rank as metrics of Ray, each named `raydata_ext_feed_` and its own name.

    Args:
        feed: name of the coordinator.
        rank: the rank.
    """

    def __init__(self, feed: str, rank: int) -> None:
        tags = {"feed": feed, "rank": str(rank)}
        self._counters = {name: _metric(Counter, name, text, tags) for name, text in _COUNTERS.items()}
        self._gauges = {name: _metric(Gauge, name, text, tags) for name, text in _GAUGES.items()}
        self._sent = dict.fromkeys(_COUNTERS, 0.0)

    def send(self, figures: Mapping[str, Any]) -> None:
        """Send what came since the last time."""
        for name, counter in self._counters.items():
            more = figures[name] - self._sent[name]
            if more > 0:
                counter.inc(more)
                self._sent[name] += more
        for name, gauge in self._gauges.items():
            gauge.set(figures[name])


def _metric(kind: Any, name: str, description: str, tags: Mapping[str, str]) -> Any:
    metric = kind(f"raydata_ext_feed_{name}", description=description, tag_keys=tuple(tags))
    metric.set_default_tags(dict(tags))
    return metric
