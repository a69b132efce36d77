"""What a feed measures of itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ray.util.metrics import Counter, Gauge

if TYPE_CHECKING:
    from raydata_ext.feed.rank_batches import RankBatch

STALL_SECONDS = 1e-3
"""A trainer that waits longer for a batch than this has stalled."""


@dataclass
class Figures:
    """Sums since a feed began.

    Attributes:
        batches: batches delivered.
        rows: rows delivered, padding included.
        bytes: their size as Arrow data.
        wait_seconds: how long the trainer waited for batches.
        read_seconds: how long reading, and what is done to each row, took; in the process of the trainer, or the wait
            for readers.
        format_seconds: how long the change to the format of the stream took.
        stalls: how often the trainer waited for longer than a millisecond.
        queue_depth: batches that were ready when the last one was asked for.
    """

    batches: int = 0
    rows: int = 0
    bytes: int = 0
    wait_seconds: float = 0.0
    read_seconds: float = 0.0
    format_seconds: float = 0.0
    stalls: int = 0
    queue_depth: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return asdict(self)

    def delivered(self, batch: RankBatch, waited: float, ready: int) -> None:
        """Count a batch.

        Args:
            batch: the batch.
            waited: seconds that the trainer waited for it.
            ready: batches that were ready when it was asked for.
        """
        self.batches += 1
        self.rows += len(batch.positions)
        self.bytes += 0 if batch.rows is None else batch.rows.nbytes
        self.wait_seconds += waited
        self.stalls += waited > STALL_SECONDS
        self.queue_depth = ready


class Metrics:
    """The figures of a rank as metrics of Ray.

    Args:
        feed: name of the coordinator.
        rank: the rank.
    """

    def __init__(self, feed: str, rank: int) -> None:
        tags = {"feed": feed, "rank": str(rank)}
        keys = tuple(tags)
        self._rows = Counter("raydata_ext_feed_rows", description="Rows delivered.", tag_keys=keys)
        self._bytes = Counter("raydata_ext_feed_bytes", description="Bytes delivered.", tag_keys=keys)
        self._wait = Counter("raydata_ext_feed_wait_seconds", description="Seconds waited.", tag_keys=keys)
        self._queue = Gauge("raydata_ext_feed_queue_depth", description="Batches that are ready.", tag_keys=keys)
        for metric in (self._rows, self._bytes, self._wait, self._queue):
            metric.set_default_tags(tags)
        self._sent = Figures()

    def send(self, figures: Figures) -> None:
        """Send what came since the last time."""
        for metric, name in ((self._rows, "rows"), (self._bytes, "bytes"), (self._wait, "wait_seconds")):
            more = getattr(figures, name) - getattr(self._sent, name)
            if more > 0:
                metric.inc(more)
            setattr(self._sent, name, getattr(figures, name))
        self._queue.set(figures.queue_depth)
