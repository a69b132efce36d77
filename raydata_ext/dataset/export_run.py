"""What does the work of an export: an engine, the store of the rows, and who is told how far it is."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from raydata_ext.engine import Engine, Program, RunProgress, Silent
from raydata_ext.plan import Chain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from raydata_ext.engine import Workers
    from raydata_ext.engine.worker import Task
    from raydata_ext.store import Store

Outcome = TypeVar("Outcome")


@dataclass(frozen=True)
class ExportRun:
    """Runs the tasks of an export.

    Attributes:
        engine: does the work.
        store: of the rows.
        progress: is told how far it is.
    """

    engine: Engine
    store: Store
    progress: RunProgress

    def in_order(
        self, doing: str, tasks: Sequence[Task[Outcome]], rows_of: Callable[[Outcome], int] = lambda _: 0
    ) -> Iterator[Outcome]:
        """Run tasks, and give what they return in their order, each as soon as those before it are done.

        Args:
            doing: name of the phase, for progress.
            tasks: the tasks.
            rows_of: the rows that a task has written.
        """
        early: dict[int, Outcome] = {}
        awaited = 0
        self.progress.begin(doing, len(tasks), 0, sum(task.num_bytes for task in tasks))
        try:
            for done in self.engine.run(Program(Chain.of(()), self.store), tasks, self.progress.watch):
                self.progress.advance(tasks[done.number].num_bytes, rows_of(done.value))
                early[done.number] = done.value
                while awaited in early:
                    yield early.pop(awaited)
                    awaited += 1
        finally:
            self.progress.end()


@contextmanager
def export_run(
    executor: str | Engine | None, workers: Workers | int | None, store: Store, progress: RunProgress | None
) -> Iterator[ExportRun]:
    """A run on a new engine, or on the one that is given, which is left running.

    Args:
        executor: see `Engine`, or an engine.
        workers: size of the pool on Ray of a new engine.
        store: of the rows.
        progress: is told how far it is; None is nobody.
    """
    if isinstance(executor, Engine):
        yield ExportRun(executor, store, progress or Silent())
        return
    with Engine(executor, workers) as engine:
        yield ExportRun(engine, store, progress or Silent())
