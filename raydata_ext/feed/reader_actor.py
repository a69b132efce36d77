"""An actor that reads some steps of a rank in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raydata_ext.feed.rank_batches import RankBatch, rank_batches

if TYPE_CHECKING:
    from raydata_ext.feed.feed_state import Position
    from raydata_ext.feed.plan import FeedPlan
    from raydata_ext.feed.share import Share


class ReaderActor:
    """Makes every stride-th batch of a rank, one a call.

    Args:
        plan: what is delivered.
        position: the first step that is asked for, and where the lanes stand then or before.
        share: the part of the rank.
        stride: number of readers.
    """

    def __init__(self, plan: FeedPlan, position: Position, share: Share, stride: int) -> None:
        self._batches = rank_batches(
            plan.epoch(position.epoch), share, first_step=position.step, stride=stride, mark=position.mark
        )

    def next(self) -> RankBatch | None:
        """The next batch; None at the end."""
        return next(self._batches, None)
