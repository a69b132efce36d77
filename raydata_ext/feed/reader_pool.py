"""Reader actors of one rank: step t is read by reader t mod n, and batches come in order whoever dies."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

import ray
from ray.exceptions import ObjectLostError, OutOfMemoryError, RayActorError, RayTaskError

from raydata_ext.errors import RaydataError, WorkerLostError
from raydata_ext.feed.feed_state import Position
from raydata_ext.feed.reader_actor import ReaderActor

if TYPE_CHECKING:
    from raydata_ext.feed.plan import FeedPlan
    from raydata_ext.feed.rank_batches import RankBatch
    from raydata_ext.feed.share import Share

CREDIT = 2
"""Batches that a reader makes ahead."""

MAX_DEATHS_IN_A_ROW = 3
"""How often the reader of one step may die before it is the step's fault."""


class ReaderPool:
    """Iterates over the batches of a rank, which actors read.

    Args:
        plan: what is delivered.
        position: the first step.
        share: the part of the rank.
        readers: number of actors; those that find no free CPU wait for one.
    """

    def __init__(self, plan: FeedPlan, position: Position, share: Share, readers: int) -> None:
        self._plan = ray.put(plan)
        self._position = position
        self._share = share
        self._count = readers
        self._step = position.step
        self._deaths = 0
        self._closed = False
        self._changing = threading.Lock()  # the readers are replaced by one thread and closed by another
        self._readers: list[Any] = []
        self._calls: list[deque[Any]] = []
        for number in range(readers):
            self._readers.append(None)
            self._calls.append(deque())
            self._start(number, position.step + number)

    def __iter__(self) -> ReaderPool:
        return self

    def __next__(self) -> RankBatch:
        while True:
            number = (self._step - self._position.step) % self._count
            try:
                batch: RankBatch | None = ray.get(self._calls[number][0])
            except (RayActorError, OutOfMemoryError, ObjectLostError) as error:  # the last: its node held the batch
                with self._changing:
                    if self._closed:
                        raise StopIteration from None
                    self._replace(number, error)
                continue
            except RayTaskError as error:
                raise (error.cause if isinstance(error.cause, RaydataError) else error) from None
            self._calls[number].popleft()
            if batch is None:
                raise StopIteration
            self._calls[number].append(self._readers[number].next.remote())
            self._step += 1
            self._deaths = 0
            return batch

    def close(self) -> None:
        """End the readers, and with them whoever waits for a batch."""
        with self._changing:
            self._closed = True
            for reader in self._readers:
                ray.kill(reader)

    def _replace(self, number: int, error: Exception) -> None:
        """Another actor reads on from the step that is due."""
        self._deaths += 1
        if self._deaths >= MAX_DEATHS_IN_A_ROW:
            raise WorkerLostError(
                f"the reader of step {self._step} died {self._deaths} times in a row: {error}; see what in the stream"
                " ends its process, or give it more memory"
            ) from error
        ray.kill(self._readers[number])
        self._start(number, self._step)

    def _start(self, number: int, step: int) -> None:
        position = Position(self._position.epoch, step, self._position.mark)
        reader = ray.remote(ReaderActor).options(num_cpus=1, max_restarts=0)
        self._readers[number] = reader.remote(self._plan, position, self._share, self._count)
        self._calls[number] = deque(self._readers[number].next.remote() for _ in range(CREDIT))
