"""Runs tasks one after the other in the calling process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raydata_ext.engine.worker import Outcome_co, Program, Task, Worker


class InlineExecutor:
    """The executor without processes: same worker code, same results."""

    name = "inline"

    def run(self, program: Program, tasks: Sequence[Task[Outcome_co]]) -> Iterator[tuple[int, Outcome_co]]:
        """Run all tasks.

        Yields:
            (position of the task, what it returned), in order.
        """
        worker = Worker(program)
        for number, task in enumerate(tasks):
            yield number, task.run(worker)

    def close(self) -> None:
        """Nothing is held."""
