"""What a run tells of itself while it goes on, and who listens: a display, metrics, or nobody."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from typing_extensions import override

if TYPE_CHECKING:
    from raydata_ext.engine.pool_status import PoolStatus


class RunProgress(ABC):
    """Is told what happens in a run."""

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
