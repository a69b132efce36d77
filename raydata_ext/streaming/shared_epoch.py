"""The epoch of a stream, seen also by worker processes that hold a copy of the stream."""

from __future__ import annotations

import ctypes
from multiprocessing.context import get_spawning_popen
from multiprocessing.sharedctypes import RawValue
from typing import Any


class SharedEpoch:
    """A number in memory that forked and spawned children share, so that workers which live on see a new epoch.

    Pickled for anything but the start of a child process it is a copy.

    Args:
        value: the epoch.
    """

    def __init__(self, value: int = 0) -> None:
        self._value: Any = RawValue(ctypes.c_int64, value)

    def get(self) -> int:
        """The epoch."""
        return int(self._value.value)

    def set(self, value: int) -> None:
        """Change it, here and in all children."""
        self._value.value = value

    def __getstate__(self) -> Any:
        return self.get() if get_spawning_popen() is None else self._value

    def __setstate__(self, state: Any) -> None:
        self._value = RawValue(ctypes.c_int64, state) if isinstance(state, int) else state
