"""How fast work goes, and how long the rest of it takes at that pace."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Pace:
    """The pace of work that is done in pieces.

    It is that of the later half of the time since the begin: long enough that single pieces count little, and a pool
    that has grown or lost workers meanwhile is soon taken as it is now.

    Args:
        clock: gives the time in seconds.

    Attributes:
        done: how much was done since the begin.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.restart()

    def restart(self) -> None:
        """Begin now, with nothing done."""
        self._begin = self._clock()
        self._marks = deque([(self._begin, 0.0)])
        self.done = 0.0

    def add(self, amount: float) -> None:
        """So much more is done."""
        self.done += amount
        self._marks.append((self._clock(), self.done))

    @property
    def seconds(self) -> float:
        """Time since the begin."""
        return self._clock() - self._begin

    @property
    def mean(self) -> float:
        """What was done in a second, from the begin on."""
        return self.done / max(self.seconds, 1e-9)

    @property
    def now(self) -> float:
        """What is done in a second, lately."""
        now = self._clock()
        half = (self._begin + now) / 2
        while len(self._marks) > 1 and self._marks[1][0] <= half:
            self._marks.popleft()
        since, done = self._marks[0]
        return (self.done - done) / max(now - since, 1e-9)

    def left(self, total: float) -> float | None:
        """Seconds until `total` is done; None where nothing is to be seen yet."""
        pace = self.now
        return max(total - self.done, 0.0) / pace if pace > 0 else None
