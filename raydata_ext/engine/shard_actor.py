"""The Ray actor that does tasks; all it does beside `Worker` is to unpack what it is sent and to give signs of life."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cloudpickle
import pyarrow as pa
import ray

from raydata_ext.engine.failure_text import described
from raydata_ext.engine.heartbeat import Beat, Heart
from raydata_ext.engine.node import Node
from raydata_ext.engine.worker import Worker, memory_high_water
from raydata_ext.errors import PlanError, RaydataError, StepError
from raydata_ext.plan import let_go_of_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raydata_ext.engine.visibility import Sight


@dataclass(frozen=True)
class ActorInfo:
    """Who an actor is.

    Attributes:
        name: `host:pid`.
        node: where it is.
    """

    name: str
    node: Node


@dataclass(frozen=True)
class Reply:
    """What comes back of a task.

    Attributes:
        value: what the task returned.
        memory_high_water: most bytes of memory that the worker has had so far.
    """

    value: Any
    memory_high_water: int


class ShardActor:
    """One worker process.

    Args:
        import_paths: `sys.path` of the driver: what its code was imported from is importable here, if it exists here.
        board: where to give signs of life.
    """

    def __init__(self, import_paths: Sequence[str], board: Any) -> None:
        sys.path += [path for path in import_paths if path not in sys.path and Path(path).exists()]
        pa.set_cpu_count(1)  # one actor a core: threads within would compete with the other actors
        pa.set_io_thread_count(1)
        self._import_paths = list(import_paths)
        ip: str = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]  # Ray has no types here
        node = Node.here(ip, ray.get_runtime_context().get_node_id())
        self._info = ActorInfo(f"{node.host}:{os.getpid()}", node)
        self._program_id: str | None = None
        self._worker: Worker | None = None
        self._task_number = 0
        self._is_busy = False
        self._heart = Heart(board, self._info.name, self._beat)

    def ready(self, sight: Sight) -> ActorInfo | PlanError:
        """Say who it is, or what it does not see of what it must see.

        The error is returned, for nobody may ask any more: Ray would log what is raised then.
        """
        try:
            sight.check()
        except PlanError as error:
            return error
        return self._info

    def run(self, program_id: str, program: bytes, task: bytes) -> Reply:
        """Do a task of a program; the program is unpacked once.

        Raises:
            PlanError: the program's functions cannot be imported here.
            StepError: a function raised, be it no `Exception`.
        """
        self._is_busy = True
        try:
            if self._worker is None or program_id != self._program_id:
                self.close()
                self._worker = Worker(self._unpacked(program), self._info.name)
                self._program_id = program_id
            self._task_number += 1
            work = self._unpacked(task)
            try:
                value = work.run(self._worker)
            except RaydataError as error:
                raise error from None  # Ray would die of a cause whose text is no Unicode; the message tells of it
            except BaseException as error:
                if isinstance(error, Exception | SystemExit):
                    raise
                # No Ctrl-C reaches a worker, and Ray would take a KeyboardInterrupt for a call that was cancelled.
                raise StepError(f"{work.label}: {described(error)}") from None
            return Reply(value, memory_high_water())
        finally:
            self._is_busy = False

    def close(self) -> None:
        """Let go of the program, its callables, and the tables that its tasks have in common."""
        let_go_of_tables()
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def _beat(self) -> Beat:
        if not self._is_busy:
            let_go_of_tables()  # other workers of the node may need the room that copies of their files take
        worker = self._worker
        decoder = None if worker is None else worker.decoder
        rows = 0 if worker is None else worker.trail.rows_read
        return Beat(self._task_number, rows, 0 if decoder is None else decoder.position)

    def _unpacked(self, pickled: bytes) -> Any:
        try:
            return cloudpickle.loads(pickled)
        except (ImportError, AttributeError) as error:
            raise PlanError(
                f"worker {self._info.name} cannot import the code of a step ({error}); it looked in"
                f" {self._import_paths}. Make the code importable there: install it, use a shared file system, or"
                " submit the job with its working directory"
            ) from error
