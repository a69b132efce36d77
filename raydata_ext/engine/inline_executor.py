"""Runs tasks one after the other in the calling process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raydata_ext.engine.failure_text import described
from raydata_ext.engine.node import Node
from raydata_ext.engine.task_queue import TaskQueue
from raydata_ext.engine.worker import Completed, Outcome_co, Program, Task, Worker, memory_high_water
from raydata_ext.errors import StepError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from raydata_ext.engine.pool_status import Watch


class InlineExecutor:
    """The executor without processes: same worker code, same results."""

    name = "inline"

    def run(
        self,
        program: Program,
        tasks: Sequence[Task[Outcome_co]],
        watch: Watch | None = None,  # noqa: ARG002 - there is no pool to watch
    ) -> Iterator[Completed[Outcome_co]]:
        """Run all tasks, those included that are appended to the list while an outcome is handled.

        Yields:
            What each task returned, in order, see `TaskQueue`.

        Raises:
            StepError: a function raised, or called `sys.exit(0)`, which would pass for the success of the run.
        """
        queue, node = TaskQueue(tasks), Node.here()
        with Worker(program) as worker:
            while (number := queue.take(worker.name, [worker.name])) is not None:
                yield Completed(number, _outcome(tasks[number], worker), 1, memory_high_water(), node)
                queue.take_in()

    def close(self) -> None:
        """Nothing is held."""


def _outcome(task: Task[Outcome_co], worker: Worker) -> Outcome_co:
    try:
        return task.run(worker)
    except SystemExit as error:
        if error.code:
            raise
        raise StepError(f"{task.label}: {described(error)}") from error
