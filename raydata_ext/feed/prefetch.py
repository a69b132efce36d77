"""A thread that works ahead, by a bounded number of items, without ever polling."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")


class Prefetcher(Generic[T]):
    """Iterates over items that a thread makes ahead of time. What the thread raises is raised here, in its place.

    Args:
        items: what is made; only the thread touches it from now on.
        depth: items that wait at most, at least 1.
    """

    def __init__(self, items: Iterator[T], depth: int) -> None:
        self._depth = depth
        self._waiting: deque[T] = deque()
        self._changed = threading.Condition()
        self._is_starved = False  # the reader waits for an item
        self._is_full = False  # the thread waits for room
        self._error: BaseException | None = None
        self._ended = False
        self._closed = False
        self._thread = threading.Thread(target=self._work, args=(items,), name="feed-prefetch", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Items that are ready."""
        return len(self._waiting)

    def __iter__(self) -> Prefetcher[T]:
        return self

    def __next__(self) -> T:
        if not self._waiting:
            with self._changed:
                self._is_starved = True  # before it is looked once more: what comes later is told
                self._changed.wait_for(lambda: self._waiting or self._ended)
                self._is_starved = False
        if not self._waiting:
            if self._error is not None:
                raise self._error
            raise StopIteration
        item = self._waiting.popleft()
        if self._is_full and len(self._waiting) <= self._depth // 2:  # to wake the thread up costs more than most items
            self._tell()
        return item

    def close(self) -> None:
        """End the thread, after the item that it is at."""
        self._closed = True
        self._waiting.clear()
        self._tell()
        self._thread.join()

    def _work(self, items: Iterator[T]) -> None:
        try:
            for item in items:
                if len(self._waiting) >= self._depth:
                    self._wait_for_room()
                if self._closed:
                    break
                self._waiting.append(item)
                if self._is_starved:
                    self._tell()
        except BaseException as error:  # noqa: BLE001 - it is raised where the items are used
            self._error = error
        self._ended = True
        self._tell()

    def _wait_for_room(self) -> None:
        with self._changed:
            self._is_full = True
            self._changed.wait_for(lambda: len(self._waiting) < self._depth or self._closed)
            self._is_full = False

    def _tell(self) -> None:
        with self._changed:
            self._changed.notify_all()
