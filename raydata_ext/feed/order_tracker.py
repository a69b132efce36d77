"""Where the lanes stand at a step, found on references: no row is read for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raydata_ext.feed.epoch_log import Mark
from raydata_ext.streaming.row_reader import RowReader

if TYPE_CHECKING:
    from raydata_ext.feed.plan import EpochOrder, FeedPlan


class OrderTracker:
    """Follows the lanes of an epoch, all of them, whatever rank reads which.

    Args:
        plan: what is delivered.
    """

    def __init__(self, plan: FeedPlan) -> None:
        self._plan = plan
        self._epoch = -1
        self._order: EpochOrder | None = None
        self._step = 0
        self._lanes: list[RowReader] = []

    def order(self, epoch: int) -> EpochOrder:
        """The order of an epoch; that of the last one asked for is kept."""
        if self._order is None or epoch != self._epoch:
            self._order, self._epoch = self._plan.epoch(epoch), epoch
            self._lanes = []
        return self._order

    def start(self, epoch: int, mark: Mark) -> None:
        """Go to a known mark."""
        if self.order(epoch).bases is not None:
            self._open()
            for lane, saved in zip(self._lanes, mark.lanes, strict=True):
                lane.load(saved)
            self._step = mark.step

    def mark(self, epoch: int, step: int) -> Mark | None:
        """Where the lanes stand before a step; None where rows would have to be read for it.

        Going on costs nanoseconds a row; going back starts from the begin of the epoch.
        """
        order = self.order(epoch)
        if order.bases is None:
            return None
        if not self._lanes or step < self._step:
            self._open()
        size, layout = self._plan.global_batch_size, order.layout
        if layout is None:
            self._lanes[0].skip((step - self._step) * size)
        else:
            until, since = (layout.rows_before(min(s * size, layout.total)) for s in (step, self._step))
            for lane, rows in zip(self._lanes, (until - since).tolist(), strict=True):
                lane.skip(rows)
        self._step = step
        return Mark(step, tuple(lane.state() for lane in self._lanes))

    def _open(self) -> None:
        assert self._order is not None
        self._lanes = [RowReader(lane.open(self._order.bases)) for lane in self._order.lanes]
        self._step = 0
