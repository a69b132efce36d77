"""What is shown while a run goes on: bars on a terminal, a plain line every few seconds elsewhere, or nothing."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from typing_extensions import override

if TYPE_CHECKING:
    from rich.console import Console

    from raydata_ext.engine.pool_status import PoolStatus

LINE_SECONDS = 3.0


class RunProgress(ABC):
    """Is told what happens in a run. The base shows nothing and may be used as it is, through `Silent`."""

    @abstractmethod
    def begin(self, what: str, tasks: int, done: int, num_bytes: int) -> None:
        """A phase begins.

        Args:
            what: its name.
            tasks: how many tasks it has.
            done: how many of them need no work.
            num_bytes: input of the others.
        """

    @abstractmethod
    def resize(self, tasks: int) -> None:
        """It has shown that there are so many tasks, those included that need no work."""

    @abstractmethod
    def advance(self, num_bytes: int, rows: int) -> None:
        """A task is done: bytes of its input, rows of its output."""

    @abstractmethod
    def watch(self, status: PoolStatus) -> None:
        """How the pool is doing, a few times a second; not called where there is none."""

    @abstractmethod
    def end(self) -> None:
        """The phase is over, for better or worse."""


class Silent(RunProgress):
    """Shows nothing."""

    @override
    def begin(self, what: str, tasks: int, done: int, num_bytes: int) -> None:
        pass

    @override
    def resize(self, tasks: int) -> None:
        pass

    @override
    def advance(self, num_bytes: int, rows: int) -> None:
        pass

    @override
    def watch(self, status: PoolStatus) -> None:
        pass

    @override
    def end(self) -> None:
        pass


class Relay(RunProgress):
    """Passes everything on.

    Args:
        shown: is told all of it.
    """

    def __init__(self, shown: RunProgress) -> None:
        self._shown = shown

    @override
    def begin(self, what: str, tasks: int, done: int, num_bytes: int) -> None:
        self._shown.begin(what, tasks, done, num_bytes)

    @override
    def resize(self, tasks: int) -> None:
        self._shown.resize(tasks)

    @override
    def advance(self, num_bytes: int, rows: int) -> None:
        self._shown.advance(num_bytes, rows)

    @override
    def watch(self, status: PoolStatus) -> None:
        self._shown.watch(status)

    @override
    def end(self) -> None:
        self._shown.end()


class Named(Relay):
    """Passes everything on, with the name of what the phases are part of before their own.

    Args:
        name: as in `tokens`, whose phases are `tokens, computing` and so on.
        shown: is told all of it.
    """

    def __init__(self, name: str, shown: RunProgress) -> None:
        super().__init__(shown)
        self._name = name

    @override
    def begin(self, what: str, tasks: int, done: int, num_bytes: int) -> None:
        super().begin(f"{self._name}, {what}", tasks, done, num_bytes)


class _Counting(RunProgress):
    """Keeps the figures that both displays show."""

    @override
    def begin(self, what: str, tasks: int, done: int, num_bytes: int) -> None:
        self.what, self.tasks, self.cached, self.total_bytes = what, tasks, done, num_bytes
        self.finished, self.bytes, self.rows = 0, 0, 0
        self.status: PoolStatus | None = None
        self.started = time.monotonic()

    @override
    def resize(self, tasks: int) -> None:
        self.tasks = tasks

    @override
    def advance(self, num_bytes: int, rows: int) -> None:
        self.finished += 1
        self.bytes += num_bytes
        self.rows += rows
        self._refresh()

    @override
    def watch(self, status: PoolStatus) -> None:
        self.status = status
        self._refresh()

    @abstractmethod
    def _refresh(self) -> None:
        """Show the figures as they are now."""

    @property
    def figures(self) -> str:
        seconds = max(time.monotonic() - self.started, 1e-9)
        parts = [f"{self.finished + self.cached}/{self.tasks} shards"]
        rows = self.rows
        if self.cached:
            parts.append(f"{self.cached} cached")
        if self.status is not None:
            rows += self.status.rows
            parts.append(f"{self.status.running} running")
            parts.append(f"{self.status.workers} workers" + (f" ({self.status.lost} lost)" if self.status.lost else ""))
        return f"{', '.join(parts)}, {rows:,} rows, {self.bytes / 1e6 / seconds:.1f} MB/s"


class Lines(_Counting):
    """A plain line at begin and end, and every few seconds between."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._next_line = 0.0

    @override
    def begin(self, what: str, tasks: int, done: int, num_bytes: int) -> None:
        super().begin(what, tasks, done, num_bytes)
        self._next_line = self.started + LINE_SECONDS
        self._console.print(f"{what}: {tasks} shards, {done} cached, {num_bytes / 1e6:.1f} MB to do", highlight=False)

    @override
    def end(self) -> None:
        self._console.print(f"{self.what}: {self.figures}", highlight=False)

    @override
    def _refresh(self) -> None:
        if time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + LINE_SECONDS
            self._console.print(f"{self.what}: {self.figures}", highlight=False)


class Bars(_Counting):
    """A bar by bytes of input, with figures that move."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar: tuple[Progress, TaskID] | None = None

    @override
    def begin(self, what: str, tasks: int, done: int, num_bytes: int) -> None:
        super().begin(what, tasks, done, num_bytes)
        columns = (
            TextColumn("{task.description:<10}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[figures]}"), TimeElapsedColumn(), TimeRemainingColumn(),
        )  # fmt: skip
        bar = Progress(*columns, console=self._console)
        task = bar.add_task(what, total=max(num_bytes, 1), figures=self.figures)
        bar.start()
        self._bar = (bar, task)

    @override
    def end(self) -> None:
        if self._bar is not None:
            bar, task = self._bar
            bar.update(
                task, completed=max(self.total_bytes, 1) if self.finished + self.cached == self.tasks else self.bytes
            )
            bar.stop()
            self._bar = None

    @override
    def _refresh(self) -> None:
        if self._bar is not None:
            bar, task = self._bar
            bar.update(task, completed=self.bytes, figures=self.figures)


def progress_for(console: Console) -> RunProgress:
    """Bars where the console is a terminal, lines elsewhere."""
    return Bars(console) if console.is_terminal else Lines(console)
