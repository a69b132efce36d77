"""Which task a worker gets next.

Tasks may come up while a run goes on: a `DecodeTask` brings the task of the part that it decompresses, and the task
that decompresses the next one. Tasks that came up go before those that the run began with, so that few files are open
at a time and few decompressed lines lie about; and a stream goes on where it is open.
"""

from __future__ import annotations

import itertools
from collections import deque
from typing import TYPE_CHECKING, Any

from raydata_ext.engine.decode_task import DecodeTask

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from raydata_ext.engine.worker import Task


LOOK_AHEAD = 256
"""So many tasks are looked at to find one whose input a worker's host has; the order of the queue comes first."""


class TaskQueue:
    """The tasks of a run that wait for a worker, by number.

    Args:
        tasks: all tasks of the run; it may grow, see `take_in`.
    """

    def __init__(self, tasks: Sequence[Task[Any]]) -> None:
        self._tasks = tasks
        self._first: deque[int] = deque()
        self._parts: deque[int] = deque()
        self._streams: deque[int] = deque()
        self._num_first = len(tasks)
        self._num_known = 0
        self._not_before: dict[int, float] = {}
        self._decoding: dict[int, DecodeTask] = {}
        self._homes: dict[int, str] = {}
        self.take_in()

    def take_in(self) -> None:
        """Queue the tasks that came up since the last time."""
        while self._num_known < len(self._tasks):
            self._queue_for(self._num_known).append(self._num_known)
            task = self._tasks[self._num_known]
            if home := task.home:
                self._homes[self._num_known] = home
            self._num_known += 1

    def __len__(self) -> int:
        """How many tasks wait."""
        return len(self._first) + len(self._parts) + len(self._streams)

    @property
    def num_expected(self) -> int:
        """How many parts the tasks that wait are likely to bring."""
        return sum(task.expected_parts for task in self._decoding.values())

    def put_back(self, numbers: Sequence[int]) -> None:
        """Queue tasks again, before others of their kind."""
        for number in reversed(numbers):
            self._queue_for(number).appendleft(number)

    def delay(self, number: int, until: float) -> None:
        """Hand out a task no earlier than that (on the clock of `take`)."""
        self._not_before[number] = until

    def has_stream_for(self, worker: str) -> bool:
        """Whether a stream waits that this worker holds open."""
        return any(self._holder(number) == worker for number in self._streams)

    def take(self, worker: str, workers: Collection[str], now: float = 0.0, *, leave: int = 0) -> int | None:
        """The next task for a worker; None where there is none for it now.

        Args:
            worker: the worker.
            workers: all workers. A stream whose holder is not among them goes on anywhere.
            now: the time.
            leave: how many parts are to be left for workers that are about to ask, where a stream could go on instead.
        """
        number = self._next(worker, workers, now, leave)
        if number is not None:
            self._decoding.pop(number, None)
        return number

    def _next(self, worker: str, workers: Collection[str], now: float, leave: int) -> int | None:
        def is_due(number: int) -> bool:
            return self._not_before.get(number, 0.0) <= now

        def is_open_here(number: int) -> bool:
            holder = self._holder(number)
            return is_due(number) and (holder == worker or holder not in workers)

        if len(self._parts) > (leave if any(map(is_open_here, self._streams)) else 0):
            number = _taken(self._parts, is_due)
            if number is not None:
                return number
        number = _taken(self._streams, is_open_here)
        if number is None and self._homes:
            number = self._next_for_host(worker, workers, is_due)
        return _taken(self._first, is_due) if number is None else number

    def _next_for_host(self, worker: str, workers: Collection[str], is_due: Callable[[int], bool]) -> int | None:
        """A task whose input the worker's host is likely to have, or else no other host that there are workers on."""
        host = _host(worker)
        number = _taken(self._first, lambda one: is_due(one) and self._homes.get(one) == host, LOOK_AHEAD)
        if number is None:
            others = set(map(_host, workers))
            number = _taken(self._first, lambda one: is_due(one) and self._homes.get(one) not in others, LOOK_AHEAD)
        return number

    def _queue_for(self, number: int) -> deque[int]:
        """Where a task waits."""
        task = self._tasks[number]
        if isinstance(task, DecodeTask):
            self._decoding[number] = task
        if self._holder(number) is not None:
            return self._streams
        return self._first if number < self._num_first else self._parts

    def _holder(self, number: int) -> str | None:
        task = self._tasks[number]
        return task.holder if isinstance(task, DecodeTask) else None


def _host(worker: str) -> str:
    return worker.rpartition(":")[0]


def _taken(queue: deque[int], suits: Callable[[int], bool], limit: int | None = None) -> int | None:
    """Take the first number that suits, of the first `limit`."""
    for place, number in enumerate(itertools.islice(queue, limit)):
        if suits(number):
            del queue[place]
            return number
    return None
