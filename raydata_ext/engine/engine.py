"""The choice between doing tasks here and doing them on Ray, made when the amount of work is known."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, cast

from raydata_ext.engine.decode_task import DecodeTask
from raydata_ext.engine.inline_executor import InlineExecutor
from raydata_ext.engine.ray_pool import RayPool
from raydata_ext.engine.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Self

    from raydata_ext.engine.pool_status import Watch
    from raydata_ext.engine.worker import Completed, Outcome_co, Program, Task

ExecutorName = Literal["ray", "inline"]
EXECUTOR_VARIABLE = "RAYDATA_EXT_EXECUTOR"
SMALL_WORK_BYTES = 32 << 20
"""Input below which starting Ray costs more than it saves."""


class Engine:
    """Runs tasks on an executor that is started at the first need and kept until `close`.

    Args:
        executor: `"ray"`, `"inline"`, or None: what the environment variable `RAYDATA_EXT_EXECUTOR` says, else inline
            for one task or little input, and Ray otherwise.
        workers: the pool on Ray.
        address: of the Ray cluster; None is the one that is joined already, or an embedded one.

    Raises:
        ValueError: an unknown executor.
    """

    def __init__(
        self, executor: str | None = None, workers: Workers | int | None = None, address: str | None = None
    ) -> None:
        self._choice = _checked_name(executor)
        self._workers = Workers.of(workers)
        self._address = address
        self._executors: dict[ExecutorName, InlineExecutor | RayPool] = {}
        self.used: list[ExecutorName] = []

    def run(
        self, program: Program, tasks: Sequence[Task[Outcome_co]], watch: Watch | None = None
    ) -> Iterator[Completed[Outcome_co]]:
        """Run all tasks; nothing is started where there is none.

        Args:
            program: what the tasks share.
            tasks: the tasks. What is appended to the list while an outcome is handled is run, too.
            watch: is told a few times a second how the pool on Ray is doing.

        Yields:
            What each task returned, as they finish.
        """
        if tasks:
            name = self._choice or self._choose(tasks)
            yield from self._executor(name).run(program, tasks, watch)

    def close(self) -> None:
        """End what was started."""
        for executor in self._executors.values():
            executor.close()
        self._executors.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self.close()

    def _choose(self, tasks: Sequence[Task[object]]) -> ExecutorName:
        single = len(tasks) == 1 and not isinstance(tasks[0], DecodeTask)  # which brings others
        small = single or sum(task.num_bytes for task in tasks) < SMALL_WORK_BYTES
        return "inline" if small and "ray" not in self._executors else "ray"

    def _executor(self, name: ExecutorName) -> InlineExecutor | RayPool:
        if name not in self._executors:
            self._executors[name] = RayPool(self._workers, self._address) if name == "ray" else InlineExecutor()
            self.used.append(name)
        return self._executors[name]


def _checked_name(executor: str | None) -> ExecutorName | None:
    source = "executor" if executor is not None else EXECUTOR_VARIABLE
    name = executor if executor is not None else os.environ.get(EXECUTOR_VARIABLE) or None
    if name not in {"ray", "inline", None}:
        raise ValueError(f"{source} is {name!r}; it must be 'ray' or 'inline'")
    return cast("ExecutorName | None", name)
