"""How a pool is doing right now, as progress displays and metrics show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class PoolStatus:
    """Figures of a moment.

    Attributes:
        workers: workers that are ready.
        starting: workers that wait for a place or start.
        running: tasks that some worker has.
        rows: rows that running tasks have read so far.
        lost: workers that died or were given up since the run began.
    """

    workers: int
    starting: int
    running: int
    rows: int
    lost: int


Watch: TypeAlias = Callable[[PoolStatus], None]
