"""The Ray actor that does tasks; all it does beside `Worker` is to unpack what it is sent."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cloudpickle
import pyarrow as pa

from raydata_ext.engine.worker import Worker
from raydata_ext.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Sequence


class ShardActor:
    """One worker process.

    Args:
        import_paths: `sys.path` of the driver: what its code was imported from is importable here, where it exists
            here.
    """

    def __init__(self, import_paths: Sequence[str]) -> None:
        sys.path += [path for path in import_paths if path not in sys.path and Path(path).exists()]
        pa.set_cpu_count(1)  # one actor a core: threads within would compete with the other actors
        pa.set_io_thread_count(1)
        self._import_paths = list(import_paths)
        self._program_id: str | None = None
        self._worker: Worker | None = None

    def ready(self) -> str:
        """Where the actor runs, as `host:pid`."""
        return f"{socket.gethostname()}:{os.getpid()}"

    def run(self, program_id: str, program: bytes, task: bytes) -> Any:
        """Do a task of a program; the program is unpacked once.

        Raises:
            PlanError: the program's functions cannot be imported here.
        """
        if self._worker is None or program_id != self._program_id:
            self._worker = Worker(self._unpacked(program))
            self._program_id = program_id
        return self._unpacked(task).run(self._worker)

    def _unpacked(self, pickled: bytes) -> Any:
        try:
            return cloudpickle.loads(pickled)
        except (ImportError, AttributeError) as error:
            raise PlanError(
                f"worker {self.ready()} cannot import the code of a step ({error}); it looked in {self._import_paths}."
                " Make the code importable there: install it, use a shared file system, or submit the job with its"
                " working directory"
            ) from error
