"""Copying the next rows of tables on a thread, while the rows before are worked on."""

from __future__ import annotations

import os
import weakref
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from raydata_ext.streaming.nodes.base import Cursor, State

if TYPE_CHECKING:
    from raydata_ext.streaming.nodes.gather import TableRows
    from raydata_ext.streaming.rows import Rows

_cursors: weakref.WeakSet[CursorAhead] = weakref.WeakSet()  # those that have a thread
_lock = Lock()


class CursorAhead(Cursor):
    """The pieces of a cursor, each made as soon as the one before was handed out.

    It begins with the second piece: who wants only the first rows does not pay for more. Pieces that are not copied
    are not worth a thread. The position is that of the pieces that were handed out.

    Args:
        cursor: what is read; nobody else may.
    """

    def __init__(self, cursor: TableRows) -> None:
        self._cursor = cursor
        self._goes_on = False  # a piece was handed out
        self._before: State = None  # the position before the piece that is coming
        self._coming: Future[Any] | None = None
        self._thread: ThreadPoolExecutor | None = None

    @override
    def next(self) -> Rows | None:
        return self.next_of(1)

    @override
    def next_of(self, multiple: int) -> Rows | None:
        piece = self._cursor.next_of(multiple) if self._coming is None else self._coming.result()
        self._coming = None  # one that failed stays, until `load`
        if self._goes_on and piece is not None and self._cursor.copied:
            self._before = self._cursor.state()
            self._coming = self._begun_thread().submit(self._cursor.next_of, multiple)
        self._goes_on = True
        return piece

    @override
    def state(self) -> State:
        return self._cursor.state() if self._coming is None else self._before

    @override
    def load(self, state: State) -> None:
        self.rest()
        self._coming = None
        self._goes_on = False
        self._cursor.load(state)

    def rest(self) -> None:
        """Wait until the thread does nothing, whatever it was given to do."""
        if self._thread is not None:
            wait([self._thread.submit(bool)])

    def without_thread(self) -> None:
        """Begin another thread when one is needed: in a forked process there is only the one that forked."""
        self._thread = None

    def _begun_thread(self) -> ThreadPoolExecutor:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="raydata_ext copying ahead")
            with _lock:
                _cursors.add(self)
        return self._thread


def _before_fork() -> None:
    """Let threads come to rest: a lock that one holds would stay locked in the new process for ever."""
    _lock.acquire()
    for cursor in _cursors:
        cursor.rest()


def _after_fork_in_child() -> None:
    for cursor in _cursors:
        cursor.without_thread()
    _lock.release()


os.register_at_fork(before=_before_fork, after_in_parent=_lock.release, after_in_child=_after_fork_in_child)
