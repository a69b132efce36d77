"""Runs tasks one after the other in the calling process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raydata_ext.engine.node import Node
from raydata_ext.engine.task_queue import TaskQueue
from raydata_ext.engine.worker import Completed, Outcome_co, Program, Task, Worker, memory_high_water

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
        """
        queue, node = TaskQueue(tasks), Node.here()
        with Worker(program) as worker:
            while (number := queue.take(worker.name, [worker.name])) is not None:
                yield Completed(number, tasks[number].run(worker), 1, memory_high_water(), node)
                queue.take_in()

    def close(self) -> None:
        """Nothing is held."""
