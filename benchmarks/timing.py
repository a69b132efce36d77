"""How long a piece of work takes, by the clock and in CPU time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Timing:
    """Seconds by the clock, and of CPU time."""

    seconds: float
    cpu: float


def timed(action: Callable[[], object]) -> Timing:
    """Do it in this process; CPU time is that of this process."""
    started, cpu = time.perf_counter(), time.process_time()
    action()
    return Timing(time.perf_counter() - started, time.process_time() - cpu)


def fastest(repeats: int, action: Callable[[], object]) -> Timing:
    """The least time, of each kind, of doing it several times."""
    runs = [timed(action) for _ in range(repeats)]
    return Timing(min(run.seconds for run in runs), min(run.cpu for run in runs))
