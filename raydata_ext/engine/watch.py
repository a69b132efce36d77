"""Noting before each call of a function what it is given, so that the death of the process in it can be explained.

A worker whose shard has killed another one is watched: it writes a mark into a file, which outlives the process. The
mark is a small text written at once by the operating system, a few microseconds a call.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from typing_extensions import Self

    from raydata_ext.engine.chunk import Chunk
    from raydata_ext.engine.trail import Trail

_PARTS = 32
"""Parts into which suspects are divided: of 1,000 rows, one is found in two attempts."""
_NOTHING = b"\n"


@dataclass(frozen=True)
class Mark:
    """What a function was given.

    Attributes:
        step: number of the step in the chain, from 0.
        first: number of the first row, among all rows that the step was given; -1 where its class was being built.
        last: number of the last row.
        place: where the rows come from, as messages name it.
    """

    step: int
    first: int = -1
    last: int = -1
    place: str = ""

    @property
    def names_rows(self) -> bool:
        """Whether the function was called on rows."""
        return self.first >= 0

    def holds(self, other: Mark) -> bool:
        """Whether the rows of another mark are among these."""
        return self.step == other.step and self.first <= other.first and other.last <= self.last


@dataclass(frozen=True)
class ExcludedRow:
    """A row that kills its process, and is not to be given to a step.

    Attributes:
        step: number of the step in the chain, from 0.
        number: of the row, among all rows that the step is given.
        reason: what was known of the death.
    """

    step: int
    number: int
    reason: str


@dataclass(frozen=True)
class Watch:
    """How a shard is to be watched.

    Attributes:
        path: the file for marks.
        suspects: rows that are to be given to their step in small parts first; None where there are none.
        excluded: rows that are set aside unseen.
    """

    path: str
    suspects: Mark | None = None
    excluded: tuple[ExcludedRow, ...] = ()


class Marker:
    """The file for marks, as the worker writes it; as a context it is removed at the end, unless the process ends, too.

    Args:
        path: the file.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._file = self._path.open("wb", buffering=0)

    def set(self, mark: Mark) -> None:
        """Note what a function is about to be given."""
        os.pwrite(self._file.fileno(), orjson.dumps(asdict(mark)) + b"\n", 0)

    def clear(self) -> None:
        """Note that no function runs."""
        os.pwrite(self._file.fileno(), _NOTHING, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: object) -> None:
        self._file.close()
        if not _ends_process(kind):
            self._path.unlink(missing_ok=True)


def take_mark(path: str) -> Mark | None:
    """What the last mark in a file says, if a function ran; the file is removed."""
    file = Path(path)
    try:
        line = file.read_bytes().partition(b"\n")[0]
    except FileNotFoundError:  # the worker died before it began, or on a node with a disk of its own
        return None
    file.unlink(missing_ok=True)
    return Mark(**orjson.loads(line)) if line else None


class StepWatch:
    """The watch over one step; as a context it holds calls of the function, whose mark is cleared when they are over.

    Args:
        watch: how the shard is watched.
        marker: where marks go.
        step: number of the step in the chain.
        trail: where the rows come from.

    Attributes:
        excluded: reasons why rows must not be given to the step, by number of the row.
    """

    def __init__(self, watch: Watch, marker: Marker, step: int, trail: Trail) -> None:
        self.excluded = {row.number: row.reason for row in watch.excluded if row.step == step}
        suspects = watch.suspects
        self._suspects = suspects if suspects is not None and suspects.step == step else None
        self._marker = marker
        self._step = step
        self._trail = trail

    def marked(self, calls: Iterable[Sequence[Any]], chunk: Chunk, rows_each: int) -> Iterator[Sequence[Any]]:
        """Mark each call, which is given so many rows of a chunk, before it is made."""
        assert chunk.numbers is not None
        for position, arguments in enumerate(calls):
            rows = slice(position * rows_each, (position + 1) * rows_each)
            numbers = chunk.numbers[rows]
            place = self._trail.place(chunk.origins[rows])
            self._marker.set(Mark(self._step, int(numbers[0]), int(numbers[-1]), place))
            yield arguments

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: object) -> None:
        if not _ends_process(kind):
            self._marker.clear()

    def suspicious_parts(self, chunk: Chunk) -> list[Chunk]:
        """The suspects in a chunk, in the parts in which they are to be tried first; none where they are all of it."""
        suspects = self._suspects
        if suspects is None or suspects.first == suspects.last or chunk.num_rows == 1:
            return []
        assert chunk.numbers is not None
        start = int(chunk.numbers.searchsorted(suspects.first, side="left"))
        end = int(chunk.numbers.searchsorted(suspects.last, side="right"))
        size = max(1, -(-(end - start) // _PARTS))
        return [chunk.slice(at, min(size, end - at)) for at in range(start, end, size)]


def _ends_process(kind: type[BaseException] | None) -> bool:
    """Whether the process ends of an exception that nobody takes, as it does of `sys.exit`."""
    return kind is not None and not issubclass(kind, Exception)
