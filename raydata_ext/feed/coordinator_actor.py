"""The actor behind a coordinator: it keeps the books and hands out positions. No row passes through it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from raydata_ext.feed.books import Books, RankEntry, read_books, write_books
from raydata_ext.feed.feed_state import Position, load_position, save_position
from raydata_ext.feed.mixture import drawn_so_far
from raydata_ext.feed.order_tracker import OrderTracker
from raydata_ext.feed.progress import Member, Progress, RankProgress

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from raydata_ext.feed.epoch_log import Mark
    from raydata_ext.feed.plan import FeedPlan


_MOST_MARKS = 1024
"""Marks that are kept while one rank is far behind the others."""


@dataclass(frozen=True)
class Assignment:
    """What a feed is told when it joins.

    Attributes:
        member: who it is.
        position: where it goes on.
    """

    member: Member
    position: Position


class CoordinatorActor:
    """Keeps the books of a feed.

    Args:
        plan: what is delivered.
        epoch: the first epoch.
        state: where to begin, if not at the begin of that epoch; books that are there go before it.
        file: where the books are written, so that they outlive the actor.
        checkpoint_every: steps between two writings.
    """

    def __init__(
        self,
        plan: FeedPlan,
        epoch: int,
        state: Mapping[str, Any] | None,
        file: Path | None,
        checkpoint_every: int,
    ) -> None:
        self._plan = plan
        self._tracker = OrderTracker(plan)
        self._every = checkpoint_every
        self._file = file
        # Epoch and mark, as feeds tell them where rows must be read to find them.
        self._read_marks: list[tuple[int, Mark]] = []
        self._progress = Progress(Position(epoch))
        books = None if file is None else read_books(file, plan)
        if books is not None:
            self._begin(books.state)
            self._recall(books)
        elif state is not None:
            self._begin(state)
        self._saved_at = self._progress.common

    def plan(self) -> FeedPlan:
        """What is delivered."""
        return self._plan

    def join(self, token: str, rank: int, world_size: int) -> Assignment:
        """Let a feed take part."""
        self._check_world(rank, world_size)
        restarts = self._progress.world_size not in (None, world_size)
        mark = self._mark(*self._progress.common) if restarts else None
        member, record = self._progress.join(token, rank, world_size, time.monotonic())
        start = self._progress.start
        if restarts:
            start = self._progress.start = Position(start.epoch, start.step, mark)
        self._save()
        if (record.epoch, record.step) != (start.epoch, start.step):
            return Assignment(member, Position(record.epoch, record.step, self._mark_for(record)))
        return Assignment(member, start)

    def report(
        self, member: Member, epoch: int, step: int, figures: Mapping[str, Any], mark: tuple[int, Mark] | None
    ) -> None:
        """Note how far a feed is.

        Args:
            member: the feed.
            epoch: epoch of the step that it receives next.
            step: that step.
            figures: what it tells of itself.
            mark: where the lanes stand at a step, with the epoch of it; only where rows must be read to find them.

        Raises:
            StaleFeedError: it was replaced.
        """
        moved = self._progress.report(member, epoch, step, figures, time.monotonic())
        if mark is not None:
            self._read_marks.append(mark)
            if len(self._read_marks) > _MOST_MARKS:
                del self._read_marks[1::2]  # to go on from one before only takes longer
        if moved:
            self._forget_marks()
            if self._is_far_from_saved():
                self._save()

    def state_dict(self) -> dict[str, Any]:
        """What comes next when all ranks have what all ranks received."""
        epoch, step = self._progress.common
        return save_position(self._tracker.order(epoch), Position(epoch, step, self._mark(epoch, step)))

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Begin anew at a position, with other ranks."""
        generation = self._progress.generation
        self._begin(state)
        self._progress.generation = generation + 1
        self._save()

    def status(self) -> dict[str, Any]:
        """See `StreamingCoordinator.status`."""
        progress = self._progress
        epoch, step = progress.common
        now = time.monotonic()
        ranks = [
            {
                "rank": rank,
                "epoch": record.epoch,
                "step": record.step,
                "silent_seconds": round(now - record.heard, 3),
                **record.figures,
            }
            for rank, record in sorted(progress.ranks.items())
        ]
        return {
            "epoch": epoch,
            "step": step,
            "steps": self._tracker.order(epoch).steps,
            "generation": progress.generation,
            "world_size": progress.world_size,
            "missing_ranks": sorted(set(range(progress.world_size or 0)) - set(progress.ranks)),
            "num_lanes": self._plan.num_lanes,
            "global_batch_size": self._plan.global_batch_size,
            "sources": self._sources(epoch, step),
            "ranks": ranks,
        }

    def _begin(self, state: Mapping[str, Any]) -> None:
        position = load_position(self._plan, state)
        if position.mark is not None:
            self._tracker.start(position.epoch, position.mark)
            if not self._tracker.order(position.epoch).indexed:
                self._read_marks = [(position.epoch, position.mark)]
        self._progress = Progress(position)

    def _check_world(self, rank: int, world_size: int) -> None:
        if not 0 <= rank < world_size:
            raise ValueError(f"rank is {rank} of {world_size}; it must be from 0 to world_size - 1")
        if world_size > self._plan.global_batch_size:
            raise ValueError(
                f"world_size is {world_size}, more than the {self._plan.global_batch_size} rows of a global batch; each"
                " rank needs one at least"
            )

    def _mark(self, epoch: int, step: int) -> Mark | None:
        """Where the lanes stand at a step, or at the last one before it that is known."""
        if step == 0:
            return None
        if self._tracker.order(epoch).indexed:
            return self._tracker.mark(epoch, step)
        known = [mark for of, mark in self._read_marks if of == epoch and mark.step <= step]
        return max(known, key=lambda mark: mark.step) if known else None

    def _mark_for(self, record: RankProgress) -> Mark | None:
        epoch, step = self._progress.common
        if record.epoch == epoch:
            step = min(step, record.step)
            return self._mark(epoch, step)
        return None

    def _sources(self, epoch: int, step: int) -> dict[str, Any]:
        """Rows and finished epochs of each source of a mixture."""
        order, mark = self._tracker.order(epoch), self._mark(epoch, step)
        names = order.mixture_names
        if not names or (mark is None and step):  # without references nobody knows before the rows are read
            return {}
        rows = np.zeros(len(names), np.int64)
        epochs = np.zeros(len(names))
        for lane, saved in zip(order.lanes, () if mark is None else mark.lanes, strict=False):
            taken, passes = drawn_so_far(lane, order.bases, saved)
            rows += taken
            epochs += passes
        total = int(rows.sum()) or 1
        return {
            name: {"rows": int(rows[i]), "epochs": float(epochs[i]) / len(order.lanes), "share": int(rows[i]) / total}
            for i, name in enumerate(names)
        }

    def _forget_marks(self) -> None:
        epoch, step = self._progress.common
        newest = self._mark(epoch, step) if self._read_marks else None
        self._read_marks = [
            (of, mark) for of, mark in self._read_marks if (of, mark.step) > (epoch, step) or mark is newest
        ]

    def _is_far_from_saved(self) -> bool:
        """Whether the books are out of date by enough steps; always where the ranks have gone back."""
        (epoch, step), saved = self._progress.common, self._saved_at
        return (epoch, step) < saved or epoch > saved[0] or step - saved[1] >= self._every

    def _save(self) -> None:
        """Write the books, if they are kept."""
        if self._file is None:
            return
        progress = self._progress
        ranks = [RankEntry(rank, one.token, one.epoch, one.step) for rank, one in progress.ranks.items()]
        write_books(self._file, Books(self.state_dict(), progress.generation, progress.world_size, tuple(ranks)))
        self._saved_at = progress.common

    def _recall(self, books: Books) -> None:
        """Go on with the ranks that there were; feeds of theirs that live on are none the wiser."""
        progress = self._progress
        progress.generation, progress.world_size = books.generation, books.world_size
        for entry in books.ranks:
            progress.ranks[entry.rank] = RankProgress(entry.token, entry.epoch, entry.step, time.monotonic())
