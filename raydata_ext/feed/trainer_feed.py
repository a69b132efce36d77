"""What a trainer iterates over: the batches of its rank."""

from __future__ import annotations

import logging
import time
import uuid
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from raydata_ext.errors import StaleFeedError, StateError
from raydata_ext.feed.batch import BatchFormatter, FeedBatch
from raydata_ext.feed.coordinator_call import answer
from raydata_ext.feed.feed_state import Position, load_position, save_position
from raydata_ext.feed.figures import Figures, Metrics
from raydata_ext.feed.order_tracker import OrderTracker
from raydata_ext.feed.prefetch import Prefetcher
from raydata_ext.feed.rank_batches import RankBatch, rank_batches
from raydata_ext.feed.reader_pool import ReaderPool
from raydata_ext.feed.reporter import Report, Reporter
from raydata_ext.feed.share import Share

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from raydata_ext.feed.coordinator_actor import Assignment
    from raydata_ext.feed.epoch_log import Mark
    from raydata_ext.feed.plan import FeedPlan
    from raydata_ext.feed.torch_feed import TorchFeed

logger = logging.getLogger(__name__)

CREDIT_STEPS = 256
"""Steps that a rank may go on while its coordinator does not answer."""


class TrainerFeed:
    """The batches of one rank. Each loop gives those of one epoch; the next loop gives those of the next epoch.

    A loop that was left goes on where it was left. A batch counts as delivered as soon as the loop is given it. One
    loop is under way at a time: one that began before another, or before `set_epoch` or `load_state_dict` moved the
    feed, ends with `StaleFeedError`. A feed joins the coordinator where it is first used, and so can be sent there.

    Args:
        coordinator: handle of the actor.
        name: of the coordinator, for metrics.
        plan: what is delivered.
        rank: the rank.
        world_size: number of ranks.
        readers: actors that read in place of this process; 0 for none.
        prefetch: batches that are made ahead.
    """

    def __init__(
        self, coordinator: Any, name: str, plan: FeedPlan, *, rank: int, world_size: int, readers: int, prefetch: int
    ) -> None:
        self._coordinator = coordinator
        self._name = name
        self._plan = plan
        self._rank = rank
        self._world_size = world_size
        self._readers = readers
        self._prefetch = prefetch
        self._token = uuid.uuid4().hex
        self._assignment: Assignment | None = None
        self._position: Position | None = None
        self._is_untouched = True
        self._tracker = OrderTracker(self._plan)
        self._figures = Figures()
        self._metrics: Metrics | None = None
        self._formatter = BatchFormatter(self._plan.format_options, self._plan.node.schema)
        self._reporter: Reporter | None = None  # of the loop that began last
        self._unsent_mark: tuple[int, Mark] | None = None  # with its epoch

    @property
    def rank(self) -> int:
        """The rank."""
        return self._rank

    @property
    def world_size(self) -> int:
        """Number of ranks."""
        return self._world_size

    @property
    def epoch(self) -> int:
        """The epoch of the next batch."""
        return self._next().epoch

    @property
    def figures(self) -> dict[str, Any]:
        """What was delivered and how long it took, by name; see `Figures`."""
        return self._figures.as_dict()

    def __iter__(self) -> Iterator[FeedBatch]:
        position = self._next()
        self._end_loop()
        self._send(self._report())  # a feed that was replaced gets an error, and no data
        self._is_untouched = False
        order = self._tracker.order(position.epoch)
        steps = order.steps
        self._warn_of_no_steps(steps, position.epoch)
        share = Share(self._rank, self._world_size, self._plan.num_lanes, self._plan.global_batch_size)
        with ExitStack() as opened:  # what was opened last is closed first, each whatever the others raise
            reporter = self._reporter = Reporter(self._send, CREDIT_STEPS)
            opened.callback(reporter.close)
            readers = ReaderPool(self._plan, position, share, self._readers) if self._readers else None
            batches = readers or rank_batches(order, share, first_step=position.step, mark=position.mark)
            ahead = Prefetcher(self._made(batches, position.epoch), self._prefetch)
            opened.callback(ahead.close)
            if readers is not None:
                opened.callback(readers.close)  # before the thread that may wait for them
            while True:
                ready, asked = ahead.waiting, time.perf_counter()
                item = next(ahead, None)
                reporter.check()
                self._require_under_way(reporter)
                if item is None:
                    break
                batch, formatted = item
                self._figures.delivered(batch, time.perf_counter() - asked, ready)
                self._advance(position.epoch, batch.step + 1, steps, batch.mark)
                reporter.report(self._report())
                yield formatted
            if self._position is not None and self._position.epoch == position.epoch:
                self._position = Position(position.epoch + 1)
                reporter.report(self._report())
            reporter.flush()

    def set_epoch(self, epoch: int) -> None:
        """Let the next loop begin an epoch, unless it is in the midst of it.

        Raises:
            StateError: the feed was resumed within another epoch and not read on from.
            ValueError: the epoch is negative.
        """
        if epoch < 0:
            raise ValueError(f"epoch is {epoch}; it must not be negative")
        position = self._next()
        if epoch == position.epoch:
            return
        if position.step and self._is_untouched:
            raise StateError(
                f"the feed goes on in epoch {position.epoch} at step {position.step}, and was not read on from;"
                f" set_epoch({epoch}) would lose the rest of that epoch: begin the loop at epoch {position.epoch}"
            )
        self._move(Position(epoch))

    def state_dict(self) -> dict[str, Any]:
        """What comes next, as JSON that fits any number of ranks; tells the coordinator, too.

        Raises:
            StaleFeedError: the feed was replaced.
        """
        position = self._next()
        if self._reporter is not None:
            self._reporter.flush()
        self._send(self._report())
        order, mark = self._tracker.order(position.epoch), position.mark
        if position.step and order.indexed:
            mark = self._tracker.mark(position.epoch, position.step)
        return save_position(order, Position(position.epoch, position.step, mark))

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where a state was saved, by any rank of any number of ranks.

        Raises:
            StateError: the state is not of this feed; says what differs.
        """
        self._next()
        position = load_position(self._plan, state)
        if position.mark is not None and not self._tracker.order(position.epoch).indexed:
            self._unsent_mark = position.epoch, position.mark
        self._move(position)

    def to_torch(self) -> TorchFeed:
        """The feed as a `torch.utils.data.IterableDataset` of dicts of tensors.

        Raises:
            ImportError: torch is not installed.
        """
        from raydata_ext.feed.torch_feed import TorchFeed  # noqa: PLC0415 - torch is optional

        return TorchFeed(self)

    def __reduce__(self) -> Any:
        """A copy is a feed of its own, which takes the place of this one when it joins."""
        options = (self._rank, self._world_size, self._readers, self._prefetch)
        return _make, (self._coordinator, self._name, self._plan, *options)

    def _next(self) -> Position:
        """What comes next; joins the coordinator first."""
        if self._position is None:
            self._assignment = self._ask(self._coordinator.join.remote(self._token, self._rank, self._world_size))
            self._metrics = Metrics(self._name, self._rank)
            self._go_to(self._assignment.position)
        assert self._position is not None
        return self._position

    def _move(self, position: Position) -> None:
        """Go elsewhere, and tell so: a copy of the feed goes on there, too."""
        self._end_loop()
        self._go_to(position)
        self._send(self._report())

    def _end_loop(self) -> None:
        """Make a loop that is under way stale; what it has reported arrives before what is reported from now on."""
        if self._reporter is not None:
            self._reporter.close()
            self._reporter = None

    def _require_under_way(self, reporter: Reporter) -> None:
        if self._reporter is not reporter:
            raise StaleFeedError(
                f"rank {self._rank}: since this loop began, another loop over the feed has begun, or set_epoch or"
                " load_state_dict has moved it; go on in the new loop, and end this one first"
            )

    def _go_to(self, position: Position) -> None:
        self._position = position
        self._is_untouched = True
        if position.mark is not None:
            self._tracker.start(position.epoch, position.mark)

    def _warn_of_no_steps(self, steps: int | None, epoch: int) -> None:
        """A loop over such an epoch does nothing, which is seldom what was meant."""
        if steps == 0:
            plan = self._plan
            least = plan.global_batch_size if plan.end_of_epoch == "drop" else 1
            logger.warning("epoch %s of feed %r has no steps; it takes %s rows to have one", epoch, self._name, least)

    def _advance(self, epoch: int, step: int, steps: int | None, mark: Mark | None) -> None:
        if mark is not None:
            self._unsent_mark = epoch, mark
        old = None if self._position is None else self._position.mark
        self._position = Position(epoch + 1) if step == steps else Position(epoch, step, mark or old)

    def _made(self, batches: Iterator[RankBatch], epoch: int) -> Iterator[tuple[RankBatch, FeedBatch]]:
        """Batches with what they are in the format of the stream; runs in the thread that works ahead."""
        for batch in batches:
            started = time.perf_counter()
            formatted = self._formatter.format(batch, epoch)
            self._figures.made(batch, time.perf_counter() - started)
            yield batch, formatted

    def _report(self) -> Report:
        assert self._position is not None
        return self._position.epoch, self._position.step, self._figures

    def _send(self, report: Report) -> None:
        assert self._assignment is not None
        epoch, step, figures = report[0], report[1], report[2].as_dict()
        mark, self._unsent_mark = self._unsent_mark, None
        self._ask(self._coordinator.report.remote(self._assignment.member, epoch, step, figures, mark))
        if self._metrics is not None:
            self._metrics.send(figures)

    def _ask(self, reference: Any) -> Any:
        return answer(reference, f"{self._name!r} of rank {self._rank}")


def _make(
    coordinator: Any, name: str, plan: FeedPlan, rank: int, world_size: int, readers: int, prefetch: int
) -> TrainerFeed:
    return TrainerFeed(coordinator, name, plan, rank=rank, world_size=world_size, readers=readers, prefetch=prefetch)
