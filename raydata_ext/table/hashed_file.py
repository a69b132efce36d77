"""A file in the making that knows its checksum, written a record batch at a time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import xxhash

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MAX_BUFFERS = 1024
"""Buffers that one call of `writev` takes, on Linux and macOS alike."""

_RUN_BYTES = 512 << 10
"""Bytes that are hashed and written at a time: so few that they are still in the cache of the core when the system
copies them. Runs end at multiples of it in the file, since the system keeps what is written there at once together."""


class _Sink(list[Any]):
    """Keeps what is written to it, as it is. Its `write` runs no Python, for it is called a dozen times a batch."""

    write = list.append
    closed = False

    def close(self) -> None:
        """Do nothing: it holds no file."""


class HashedFile:
    """A new file that knows size and xxh3-128 of what was written to it.

    An IPC stream hands over the buffers of a batch one by one, and the large ones as they lie in memory. They are
    gathered; `write_out` hashes them and gives them to the system, a cache-sized run at a time, so that nothing is
    copied on the way but by the system itself. Until then they must not change.

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
        gathered = [*self.sink]
        self.sink.clear()
        for run in _runs(gathered, self.num_bytes):
            for part in run:
                self._hash.update(part)
            self._write(run)

    def _write(self, run: list[memoryview]) -> None:
        num_bytes = sum(map(len, run))
        self.num_bytes += num_bytes
        while num_bytes:
            written = os.writev(self._file.fileno(), run)
            num_bytes -= written
            run = _rest(run, written) if num_bytes else []

    def sync(self) -> None:
        """Force what was written out to the disk."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file; what is gathered still is not written."""
        self._file.close()

    def hexdigest(self) -> str:
        """The checksum, 32 hexadecimal digits."""
        return self._hash.hexdigest()


def _runs(buffers: list[Any], offset: int) -> Iterator[list[memoryview]]:
    """Cut buffers into runs of parts.

    Args:
        buffers: bytes, in order.
        offset: where in the file they go.
    """
    run: list[memoryview] = []
    missing = _RUN_BYTES - offset % _RUN_BYTES
    for buffer in buffers:
        rest = memoryview(buffer)
        while rest:
            part, rest = rest[:missing], rest[missing:]
            run.append(part)
            missing -= len(part)
            if not missing or len(run) == _MAX_BUFFERS:
                yield run
                run, missing = [], missing or _RUN_BYTES
    if run:
        yield run


def _rest(buffers: list[memoryview], written: int) -> list[memoryview]:
    """The buffers without their first bytes: the system may take less than it is given."""
    for number, data in enumerate(buffers):
        if written < len(data):
            return [data[written:], *buffers[number + 1 :]]
        written -= len(data)
    return []
