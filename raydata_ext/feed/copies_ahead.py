"""Files that are not on this machine, copied here before their rows are needed, in the order in which they are.

References are read ahead of the rows that they stand for. A file that they refer to is held from then on until they are
done with, so that no copy is removed that is needed soon; how much is held before its turn is bounded.
"""

from __future__ import annotations

from collections import Counter, deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from typing_extensions import override

from raydata_ext.errors import NoRoomError
from raydata_ext.streaming.nodes.base import Cursor, State
from raydata_ext.table import ConcatenationTable, MemoryMappedTable
from raydata_ext.table.row_index import let_go_of_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from raydata_ext.streaming.nodes.base import Bases
    from raydata_ext.table import Table
    from raydata_ext.table.file_origin import FileOrigin

    References = NDArray[np.int64]

MAX_FILES = 16
"""Files that are held before their turn."""

MAX_BYTES = 2 << 30
"""Their bytes, beyond which no further file is fetched before its turn."""

_MAX_REFERENCES = 1 << 22
"""References that are read ahead."""

_THREADS = 2
"""Files that are copied at the same time."""


class _RemoteFile(NamedTuple):
    """A file that is not on this machine.

    Args:
        origin: gives a copy.
        num_bytes: its size.
    """

    origin: FileOrigin
    num_bytes: int


class CopiesAhead:
    """Holds copies of the files that are needed next.

    Args:
        tables: what references refer to; those of their files that are not on this machine are copied.
        bases: which references stand for which rows.
        max_files: files that are held before their turn.
        max_bytes: their bytes, beyond which no further file is fetched before its turn.
    """

    def __init__(
        self, tables: Sequence[Table], bases: Bases, *, max_files: int = MAX_FILES, max_bytes: int = MAX_BYTES
    ) -> None:
        parts = [part for table in tables for part in _parts(table, bases[id(table)])]
        self._starts = np.array([start for start, _ in parts], np.int64)
        self._files = {number: file for number, (_, file) in enumerate(parts) if file is not None}
        self._max_files = max_files
        self._max_bytes = max_bytes
        self._uses: Counter[int] = Counter()  # by file, pieces of references that are not done with
        self._copies: dict[int, Future[str]] = {}
        self._early: dict[int, int] = {}  # bytes of each file that is held before its turn
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="feed-copies")

    @property
    def has_files(self) -> bool:
        """Whether there is anything to copy."""
        return bool(self._files)

    @property
    def has_room(self) -> bool:
        """Whether more files may be held before their turn."""
        return len(self._early) < self._max_files and sum(self._early.values()) < self._max_bytes

    def want(self, references: References) -> list[int]:
        """Begin to copy the files of a piece of references, that of the first reference first.

        Returns:
            Numbers of the files.
        """
        found, first = np.unique(self._starts.searchsorted(references, side="right") - 1, return_index=True)
        files = [file for file in found[np.argsort(first)].tolist() if file in self._files]
        self._uses.update(files)
        for file in files:
            if file not in self._copies:
                self._early[file] = self._files[file].num_bytes
                self._begin(file)
        return files

    def wait(self, files: Sequence[int]) -> None:
        """Now it is the turn of these files: wait until their copies are there.

        Where there is no room, copies that are early give way. What else is wrong is found again, and told, by whoever
        opens the file.
        """
        for file in files:
            self._early.pop(file, None)
            copy = self._copies.get(file)
            if copy is None or isinstance(copy.exception(), NoRoomError):
                for early in self._early:
                    self._let_go(early)
                self._early.clear()
                self._begin(file)
                self._copies[file].exception()

    def done(self, files: Sequence[int]) -> None:
        """A piece of references is done with; let go of the files that no other one needs."""
        self._uses.subtract(files)
        for file in files:
            if not self._uses[file]:
                self._let_go(file)

    def close(self) -> None:
        """Let go of all files."""
        self._threads.shutdown(cancel_futures=True)
        for file in list(self._copies):
            self._let_go(file)

    def _begin(self, file: int) -> None:
        self._copies[file] = self._threads.submit(_hold, self._files[file].origin)

    def _let_go(self, file: int) -> None:
        copy = self._copies.pop(file, None)
        if copy is not None and not copy.cancelled() and copy.exception() is None:
            self._files[file].origin.release()


class ReferencesAhead(Cursor):
    """References that are read ahead, for the sake of the files that they refer to.

    Args:
        references: what is read.
        copies: copies of the files.
    """

    def __init__(self, references: Cursor, copies: CopiesAhead) -> None:
        self._input = references
        self._copies = copies
        self._ahead: deque[tuple[State, References, list[int]]] = deque()
        self._count = 0  # references ahead
        self._given: deque[list[int]] = deque()  # files of the last two pieces, the rows of which may be read only now
        self._ended = False

    @override
    def next(self) -> References | None:
        while len(self._given) > 1:
            self._copies.done(self._given.popleft())
        if not self._ahead:
            self._read()
        for _ in range(2):  # one more than is given, so that it gets ahead step by step
            if self._copies.has_room and self._count < _MAX_REFERENCES:
                self._read()
        if not self._ahead:
            return None
        _, references, files = self._ahead.popleft()
        self._count -= len(references)
        self._copies.wait(files)
        self._given.append(files)
        return references

    @override
    def state(self) -> State:
        return self._ahead[0][0] if self._ahead else self._input.state()

    @override
    def load(self, state: State) -> None:
        for _, _, files in self._ahead:
            self._copies.done(files)
        self._ahead.clear()
        self._count, self._ended = 0, False
        self._input.load(state)

    def _read(self) -> None:
        state = self._input.state()
        references = None if self._ended else self._input.next()
        if references is None:
            self._ended = True
            return
        self._ahead.append((state, references, self._copies.want(references)))
        self._count += len(references)


def _hold(origin: FileOrigin) -> str:
    """Hold a copy; where there is no room, after tables let go of the files that they keep open to be quick."""
    try:
        return origin.hold()
    except NoRoomError:
        let_go_of_parts()
        return origin.hold()


def _parts(table: Table, start: int) -> Iterator[tuple[int, _RemoteFile | None]]:
    """First reference of each file of a table, and the file if it is not on this machine."""
    if isinstance(table, ConcatenationTable):
        for row_block in table.blocks:
            yield from _parts(row_block[0], start)  # what stands beside it came later, and so is in memory
            start += row_block[0].num_rows
    elif isinstance(table, MemoryMappedTable) and table.origin is not None:
        yield start, _RemoteFile(table.origin, table.file_bytes)
    else:
        yield start, None
