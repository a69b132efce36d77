"""One actor of the pool, as the driver sees it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raydata_ext.engine.heartbeat import Beat
    from raydata_ext.engine.shard_actor import ActorInfo
    from raydata_ext.engine.visibility import Sight


@dataclass(eq=False)
class Member:
    """One actor.

    Attributes:
        handle: the actor.
        starting: the reference that becomes ready when the actor does; None once it has.
        since: when it was last asked whether it is (monotonic seconds).
        info: who it is, once it is ready.
        tasks: references of the calls that it has, oldest first, with the position of the task.
        beat: its last sign of life.
        beat_changed: when that, or the task that it works on, last changed (monotonic seconds).
        num_done: how many tasks it has done.
    """

    handle: Any
    starting: Any = None
    since: float = field(default_factory=time.monotonic)
    info: ActorInfo | None = None
    tasks: dict[Any, int] = field(default_factory=dict)
    beat: Beat | None = None
    beat_changed: float = field(default_factory=time.monotonic)
    num_done: int = 0

    @property
    def is_ready(self) -> bool:
        """Whether it can be given tasks."""
        return self.starting is None

    @property
    def name(self) -> str:
        """Who it is, for messages."""
        return "a worker that was starting" if self.info is None else f"worker {self.info.name}"

    def look(self, sight: Sight) -> None:
        """Ask whether it sees what it must see; it is ready once it does. What it was asked before does not count."""
        self.starting = self.handle.ready.remote(sight)
        self.since = time.monotonic()

    def see(self, beat: Beat) -> None:
        """Take a sign of life."""
        if beat != self.beat:
            self.beat = beat
            self.beat_changed = time.monotonic()

    @property
    def rows_read(self) -> int | None:
        """Rows that it has read in the task that it works on; None where it has given no sign of that."""
        beat = self.beat
        return beat.rows if beat is not None and beat.task == self.num_done + 1 else None

    def finish(self, ref: Any) -> int:
        """Take the task of a reference as done, and return its position."""
        self.num_done += 1
        self.begin_next()
        return self.tasks.pop(ref)

    def begin_next(self) -> None:
        """Another task has its turn now."""
        self.beat_changed = time.monotonic()

    def seconds_without_progress(self) -> float:
        """How long nothing has moved; 0 where it has nothing to do."""
        return time.monotonic() - self.beat_changed if self.tasks else 0.0
