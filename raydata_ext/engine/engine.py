"""The choice between doing tasks here and doing them on Ray, made when the amount of work is known."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Literal, cast

from raydata_ext.engine.decode_task import DecodeTask
from raydata_ext.engine.inline_executor import InlineExecutor
from raydata_ext.engine.ray_pool import RayPool
from raydata_ext.plan import Workers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Self

    from raydata_ext.engine.pool_status import Watch
    from raydata_ext.engine.worker import Completed, Outcome_co, Program, Task

_log = logging.getLogger(__name__)

ExecutorName = Literal["ray", "inline"]
EXECUTOR_VARIABLE = "RAYDATA_EXT_EXECUTOR"
SMALL_WORK_BYTES = 32 << 20
"""Input below which starting Ray costs more than it saves."""


class Engine:
    """Runs tasks on an executor that is started at the first need and kept until `close`.

    There is one pool on Ray at a time. It ends its actors before a pool of other workers asks for theirs, so that these
    may take up all of the cluster.

    Args:
        executor: `"ray"`, `"inline"`, or None: what the environment variable `RAYDATA_EXT_EXECUTOR` says, else inline
            for one task or little input, and Ray otherwise. Workers that need a GPU or other special resources are
            looked for on Ray, however little there is to do.
        workers: the pool on Ray, for tasks that name no other.
        address: of the Ray cluster; None is the one that is joined already, or an embedded one.

    Attributes:
        used: what did the work, in the order of first use.

    Raises:
        ValueError: an unknown executor.
    """

    def __init__(
        self, executor: str | None = None, workers: Workers | int | None = None, address: str | None = None
    ) -> None:
        self._choice = _checked_name(executor)
        self._workers = Workers.of(workers)
        self._address = address
        self._pool: RayPool | None = None
        self.used: list[ExecutorName] = []

    def run(
        self,
        program: Program,
        tasks: Sequence[Task[Outcome_co]],
        watch: Watch | None = None,
        workers: Workers | None = None,
    ) -> Iterator[Completed[Outcome_co]]:
        """Run all tasks; nothing is started where there is none.

        Args:
            program: what the tasks share.
            tasks: the tasks. What is appended to the list while an outcome is handled is run, too.
            watch: is told a few times a second how the pool on Ray is doing.
            workers: the pool on Ray; None is that of the engine.

        Yields:
            What each task returned, as they finish.
        """
        if tasks:
            executor = self._executor(tasks, workers or self._workers)
            yield from executor.run(program, tasks, watch)

    def close(self) -> None:
        """End what was started.

        Raises:
            StepError: a `teardown` raised.
        """
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        try:
            self.close()
        except Exception as failure:
            if error is None:
                raise
            _log.warning("%s", failure)  # and what ended the run stays what is raised

    def _executor(self, tasks: Sequence[Task[object]], workers: Workers) -> InlineExecutor | RayPool:
        name = self._choice or self._choose(tasks, workers)
        if name not in self.used:
            self.used.append(name)
        return self._pool_of(workers) if name == "ray" else InlineExecutor()

    def _choose(self, tasks: Sequence[Task[object]], workers: Workers) -> ExecutorName:
        single = len(tasks) == 1 and not isinstance(tasks[0], DecodeTask)  # which brings others
        small = single or sum(task.num_bytes for task in tasks) < SMALL_WORK_BYTES
        return "inline" if small and self._pool is None and not workers.need_special_nodes else "ray"

    def _pool_of(self, workers: Workers) -> RayPool:
        if self._pool is not None and self._pool.workers != workers:
            self.close()
        if self._pool is None:
            self._pool = RayPool(workers, self._address)
        return self._pool


def _checked_name(executor: str | None) -> ExecutorName | None:
    source = "executor" if executor is not None else EXECUTOR_VARIABLE
    name = executor if executor is not None else os.environ.get(EXECUTOR_VARIABLE) or None
    if name not in {"ray", "inline", None}:
        raise ValueError(f"{source} is {name!r}; it must be 'ray' or 'inline'")
    return cast("ExecutorName | None", name)
