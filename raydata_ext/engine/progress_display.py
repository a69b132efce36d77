"""What is shown while a run goes on: a bar on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import TYPE_CHECKING

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Column, Table
from rich.text import Text
from typing_extensions import override

from raydata_ext.engine.amounts import counted, readable_bytes, readable_seconds
from raydata_ext.engine.pace import Pace
from raydata_ext.engine.progress import RunProgress

if TYPE_CHECKING:
    from rich.console import Console

    from raydata_ext.engine.pool_status import PoolStatus

LINE_SECONDS = 3.0
MOST_LINE_SECONDS = 30.0
"""Lines become rarer in the course of a long run, for its log is to be read."""
_NARROW = 60


def progress_for(console: Console) -> RunProgress:
    """A bar where the console is a terminal, lines elsewhere."""
    return Bar(console) if console.is_terminal and not console.is_dumb_terminal else Lines(console)


class Display(RunProgress):
    """Keeps the figures that are shown.

    Args:
        console: where they are shown.
    """

    def __init__(self, console: Console) -> None:
        self._console = console

    @override
    def begin(self, what: str, tasks: int, done: int, num_bytes: int) -> None:
        self._what, self._tasks, self._cached, self._total_bytes = what, tasks, done, num_bytes
        self._finished, self._rows = 0, 0
        self._status: PoolStatus | None = None
        self._pace = Pace()
        self._begin = time.monotonic()

    @override
    def resize(self, tasks: int) -> None:
        self._tasks = tasks

    @override
    def advance(self, num_bytes: int, rows: int) -> None:
        self._finished += 1
        self._rows += rows
        self._pace.add(num_bytes if self._total_bytes else 1)
        self._refresh()

    @override
    def watch(self, status: PoolStatus) -> None:
        self._status = status
        if not self._finished and not status.workers:  # the start of a pool says nothing of its pace
            self._pace.restart()
        self._refresh()

    @abstractmethod
    def _refresh(self) -> None:
        """Show the figures as they are now."""

    @property
    def _took(self) -> str:
        return readable_seconds(time.monotonic() - self._begin)

    @property
    def _end(self) -> str:
        return f"in {self._took}" if self._is_done else f"ended after {self._took}"

    @property
    def _is_done(self) -> bool:
        return self._finished + self._cached >= self._tasks

    @property
    def _share(self) -> float:
        """How much is done of what there is to do."""
        if self._is_done:
            return 1.0
        total = self._total_bytes or self._tasks - self._cached
        return min(self._pace.done / total, 1.0)

    @property
    def _time_left(self) -> str:
        """An estimate, once there has been a shard for each worker; those that finish first tell little."""
        if self._is_done or self._finished < max(1, self._status.running if self._status else 0):
            return ""
        seconds = self._pace.left(self._total_bytes or self._tasks - self._cached)
        return "" if seconds is None else f"{readable_seconds(seconds)} left"

    def _figures(self, bytes_a_second: float) -> list[str]:
        """What there is to say, the most important first."""
        if self._cached == self._tasks:
            return [f"{counted(self._tasks, 'shard')}, all cached" if self._tasks else "nothing to do"]
        cached = f" ({self._cached:,} cached)" if self._cached else ""
        figures = [f"{self._finished + self._cached:,}/{counted(self._tasks, 'shard')}{cached}"]
        if self._finished:
            figures.append(counted(self._rows, "row"))
        if self._finished and self._total_bytes:
            figures.append(f"{readable_bytes(bytes_a_second)}/s")
        return [*figures, *(_workers(self._status) if self._status else ())]


class Lines(Display):
    """A plain line at begin and end, and every few seconds between."""

    @override
    def begin(self, what: str, tasks: int, done: int, num_bytes: int) -> None:
        super().begin(what, tasks, done, num_bytes)
        self._next_line = self._begin + LINE_SECONDS
        if done == tasks:
            self._print(self._figures(0.0))
        else:
            self._print([counted(tasks, "shard"), f"{done:,} cached", f"{readable_bytes(num_bytes)} to do"])

    @override
    def end(self) -> None:
        if self._cached < self._tasks:
            self._print([*self._figures(self._pace.mean), self._end])

    @override
    def _refresh(self) -> None:
        now = time.monotonic()
        if now >= self._next_line and not self._is_done:
            self._next_line = now + min(max(LINE_SECONDS, (now - self._begin) / 20), MOST_LINE_SECONDS)
            self._print([*self._figures(self._pace.now), *filter(None, [self._time_left])])

    def _print(self, figures: list[str]) -> None:
        self._console.print(f"{self._what}: {', '.join(figures)}", highlight=False, markup=False, soft_wrap=True)


class Bar(Display):
    """A bar by bytes of input, and below it figures that move: as many as the terminal is wide enough for."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._live: Live | None = None

    @override
    def begin(self, what: str, tasks: int, done: int, num_bytes: int) -> None:
        super().begin(what, tasks, done, num_bytes)
        self._live = Live(console=self._console, refresh_per_second=5, get_renderable=self._view)
        self._live.start()

    @override
    def end(self) -> None:
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    @override
    def _refresh(self) -> None:
        """The display looks at the figures by itself."""

    def _view(self) -> Group:
        width, is_over = self._console.width, self._live is None
        times = [self._took, self._time_left] if width >= _NARROW else [self._time_left or self._took]
        head = Table.grid("", Column(ratio=1), "", "", expand=True, padding=(0, 1))
        bar = ProgressBar(total=1.0, completed=self._share)
        time_cell = _cell(self._end if is_over else ", ".join(filter(None, times)))
        head.add_row(_cell(self._what), bar, _cell(f"{self._share:.0%}"), time_cell)
        figures = self._figures(self._pace.mean if is_over else self._pace.now)
        while len(figures) > 1 and len(", ".join(figures)) > width:
            figures.pop()
        return Group(head, _cell(", ".join(figures)))


def _cell(text: str) -> Text:
    return Text(text, no_wrap=True, overflow="ellipsis")


def _workers(status: PoolStatus) -> list[str]:
    """Who is at work, and at what."""
    rows = f" ({counted(status.rows, 'row')} read)" if status.rows else ""
    figures = [f"{status.running:,} running{rows}"] if status.running else []
    lost = f" ({status.lost:,} lost)" if status.lost else ""
    starting = [f"{status.starting:,} starting"] if status.starting else []
    return [*figures, f"{counted(status.workers, 'worker')}{lost}", *starting]
