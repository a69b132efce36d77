"""Figures of a run as Ray metrics, beside whatever is shown: dashboards and alerts read them from the nodes' agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ray.util.metrics import Counter, Gauge
from typing_extensions import override

from raydata_ext.engine.progress import Relay, RunProgress

if TYPE_CHECKING:
    from raydata_ext.engine.pool_status import PoolStatus

PREFIX = "raydata_ext_"


class Metered(Relay):
    """Passes everything on to a display, and counts it in metrics where the work is done on Ray.

    Args:
        shown: the display.
    """

    def __init__(self, shown: RunProgress) -> None:
        super().__init__(shown)
        self._phase = {"phase": ""}
        self._metrics: _Metrics | None = None

    @override
    def begin(self, what: str, tasks: int, done: int, num_bytes: int) -> None:
        self._phase = {"phase": what}
        super().begin(what, tasks, done, num_bytes)

    @override
    def advance(self, num_bytes: int, rows: int) -> None:
        if self._metrics is not None:
            self._metrics.count(num_bytes, rows, self._phase)
        super().advance(num_bytes, rows)

    @override
    def watch(self, status: PoolStatus) -> None:
        if self._metrics is None:  # the first sign that there is a Ray to tell
            self._metrics = _Metrics()
        self._metrics.workers.set(status.workers, self._phase)
        self._metrics.lost.set(status.lost, self._phase)
        super().watch(status)

    @override
    def end(self) -> None:
        if self._metrics is not None:  # a gauge stays as it is until the process ends
            self._metrics.workers.set(0, self._phase)
        super().end()


class _Metrics:
    """The metrics, each tagged with the phase of the run."""

    def __init__(self) -> None:
        tags = ("phase",)
        self.shards = Counter(PREFIX + "shards_done", "Shards that were computed", tag_keys=tags)
        self.bytes = Counter(PREFIX + "bytes_in", "Bytes of input of computed shards", tag_keys=tags)
        self.rows = Counter(PREFIX + "rows_out", "Rows of computed shards", tag_keys=tags)
        self.workers = Gauge(PREFIX + "workers", "Workers that are ready", tag_keys=tags)
        self.lost = Gauge(PREFIX + "workers_lost", "Workers that died or were given up", tag_keys=tags)

    def count(self, num_bytes: int, rows: int, phase: dict[str, str]) -> None:
        """Count one shard."""
        for counter, value in ((self.shards, 1), (self.bytes, num_bytes), (self.rows, rows)):
            if value:  # a counter takes no zero
                counter.inc(value, phase)
