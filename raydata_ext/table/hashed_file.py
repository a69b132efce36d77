"""A file in the making that knows its checksum, written a record batch at a time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import xxhash

if TYPE_CHECKING:
    from pathlib import Path

_MAX_BUFFERS = 1024
"""Buffers that one call of `writev` takes, on Linux and macOS alike."""


class _Sink(list[Any]):
    """Keeps what is written to it, as it is. Its `write` runs no Python, for it is called a dozen times a batch."""

    write = list.append
    closed = False

    def close(self) -> None:
        """Do nothing: it holds no file."""


class HashedFile:
    """A new file that knows size and xxh3-128 of what was written to it.

    An IPC stream hands over the buffers of a batch one by one, and the large ones as they lie in memory. They are
    gathered; `write_out` hashes them and gives them to the system in one call, so that nothing is copied on the way but
    by the system itself. Until then they must not change.

    Args:
        path: the file; there must be none of that name.

    Attributes:
        sink: what an IPC stream writes to, through `pa.PythonFile`.
        num_bytes: bytes written out.
    """

    def __init__(self, path: Path) -> None:
        self.sink = _Sink()
        self.num_bytes = 0
        self._file = path.open("xb", buffering=0)
        self._hash = xxhash.xxh3_128()

    def write_out(self) -> None:
        """Write what was gathered.

        Raises:
            OSError: the disk is full or fails; how much of it was written is not known.
        """
        left: list[Any] = [*self.sink]
        self.sink.clear()
        for data in left:
            self._hash.update(data)
        num_bytes = sum(map(len, left))
        self.num_bytes += num_bytes
        while num_bytes:
            written = os.writev(self._file.fileno(), left[:_MAX_BUFFERS])
            num_bytes -= written
            left = _rest(left, written) if num_bytes else []

    def sync(self) -> None:
        """Force what was written out to the disk."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file; what is gathered still is not written."""
        self._file.close()

    def hexdigest(self) -> str:
        """The checksum, 32 hexadecimal digits."""
        return self._hash.hexdigest()


def _rest(buffers: list[Any], written: int) -> list[Any]:
    """The buffers without their first bytes: the system may take less than it is given."""
    for number, data in enumerate(buffers):
        if written < len(data):
            return [memoryview(data)[written:], *buffers[number + 1 :]]
        written -= len(data)
    return []
