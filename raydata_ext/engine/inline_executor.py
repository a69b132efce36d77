"""Runs tasks one after the other in the calling process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raydata_ext.engine.worker import Outcome_co, Program, Task, Worker

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class InlineExecutor:
    """The executor without processes: same worker code, same results."""

    name = "inline"

    def run(self, program: Program, tasks: Sequence[Task[Outcome_co]]) -> Iterator[tuple[int, Outcome_co]]:
        """Run all tasks.

        Yields:
            (position of the task, what it returned), in order.
        """
        with Worker(program) as worker:
            for number, task in enumerate(tasks):
                yield number, task.run(worker)

    def close(self) -> None:
        """Nothing is held."""
