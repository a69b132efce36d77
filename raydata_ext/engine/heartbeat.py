"""Signs of life of the workers: who works on what, and how far it is.

Each shard actor has a thread that reports every two seconds to one board, which the driver reads. A worker that is
dead, stuck in a function, or cut off stops to report or reports the same for long; the driver tells that from hard
work by the rows that were read in between.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ray.exceptions import RayError

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)

BEAT_SECONDS = 2.0


@dataclass(frozen=True)
class Beat:
    """What a worker last said of itself.

    Attributes:
        task: number of the task that it works on, counted over its life; 0 before the first.
        rows: rows that it has read in this task.
        decoded: bytes that it has decompressed of the file that it holds open.
    """

    task: int
    rows: int
    decoded: int = 0


class HeartbeatBoard:
    """A Ray actor that holds the last beat of each worker."""

    def __init__(self) -> None:
        self._beats: dict[str, Beat] = {}

    def put(self, worker: str, beat: Beat) -> None:
        """Take a beat."""
        self._beats[worker] = beat

    def read(self) -> dict[str, Beat]:
        """The last beat of each worker, by name."""
        return dict(self._beats)


class Heart:
    """The reporting thread of a worker. A board that cannot be reached is no matter of the worker's.

    Args:
        board: handle of the board.
        worker: name of the worker.
        look: gives the beat of now.
    """

    def __init__(self, board: Any, worker: str, look: Callable[[], Beat]) -> None:
        self._board = board
        self._worker = worker
        self._look = look
        self._stopped = threading.Event()
        threading.Thread(target=self._run, name="heartbeat", daemon=True).start()

    def stop(self) -> None:
        """End the thread."""
        self._stopped.set()

    def _run(self) -> None:
        last = None
        while not self._stopped.wait(BEAT_SECONDS):
            beat = self._look()
            if beat == last:
                continue
            try:
                self._board.put.remote(self._worker, beat)
                last = beat
            except RayError as error:
                _log.debug("heartbeat of %s not sent: %s", self._worker, error)
