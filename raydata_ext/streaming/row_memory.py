"""Rows that were read and are not delivered yet, where they cannot be read again one by one."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.errors import StateError
from raydata_ext.streaming.kept_rows import KeptRows
from raydata_ext.streaming.nodes.base import Cursor, State
from raydata_ext.streaming.rows import BATCH_ROWS, COPIED_BYTES
from raydata_ext.table import take_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from raydata_ext.streaming.rows import References


class Memory(Cursor):
    """References to rows that are in memory until the one shuffle that owns this memory forgets them."""

    @abstractmethod
    def gather(self, references: References) -> pa.RecordBatch:
        """The rows of some references, or of the first of them."""

    @abstractmethod
    def forget(self, waiting: References) -> None:
        """Keep, of the rows that `next` has referred to, only those that wait.

        Args:
            waiting: references, each once, in any order.
        """

    @abstractmethod
    def mark(self, waiting: References) -> State:
        """What is needed, beside their references, to have all waiting rows again; never changed later."""

    @abstractmethod
    def recall(self, mark: State, waiting: References) -> None:
        """Have waiting rows again, with the `load` that follows.

        Args:
            mark: from `mark`.
            waiting: their references.
        """


class RowMemory(Memory):
    """Numbers the rows of a cursor as they come.

    So the rows of a stream that has no references can be referred to. A saved position holds no rows: to resume, the
    stream is read again from the oldest row that waits.

    Args:
        batches: gives record batches.
    """

    def __init__(self, batches: Cursor) -> None:
        self._input = batches
        self._next = 0
        self._marks: deque[tuple[int, State]] = deque()  # first row of each batch read, and the position before it
        self._kept = KeptRows()
        self._lost: References | None = None  # waiting rows that `load` is to read again

    @override
    def next(self) -> References | None:
        before = self._input.state()
        batch = self._input.next()
        if batch is None:
            return None
        numbers = np.arange(self._next, self._next + batch.num_rows)
        if len(numbers):
            self._marks.append((self._next, before))
            self._kept.add(numbers, batch)
            self._next += len(numbers)
        return numbers

    @override
    def state(self) -> dict[str, Any]:
        return {"next": self._next, "input": self._input.state()}

    @override
    def load(self, state: dict[str, Any]) -> None:
        if self._lost is not None:
            self._read_again(self._lost, state["next"])
            self._lost = None
        if self._next != state["next"]:
            self._input.load(state["input"])
            self._next = state["next"]

    @override
    def gather(self, references: References) -> pa.RecordBatch:
        return self._kept.gather(references[:BATCH_ROWS], COPIED_BYTES)

    @override
    def forget(self, waiting: References) -> None:
        oldest = int(waiting.min()) if len(waiting) else self._next
        while len(self._marks) > 1 and self._marks[1][0] <= oldest:
            self._marks.popleft()
        self._kept.keep_only([waiting])

    @override
    def mark(self, waiting: References) -> dict[str, Any]:
        oldest = int(waiting.min()) if len(waiting) else self._next
        if oldest < self._next:
            first, state = next(mark for mark in reversed(self._marks) if mark[0] <= oldest)
        else:  # all that waits, if anything, is in the batch that comes next: just after `load` that is so
            first, state = self._next, self._input.state()
        return {"first": first, "input": state, "schema": self._kept.schema}

    @override
    def recall(self, mark: dict[str, Any], waiting: References) -> None:
        self._input.load(mark["input"])
        self._next = mark["first"]
        self._marks.clear()
        self._kept = KeptRows(mark["schema"])
        self._lost = np.sort(waiting)

    def _read_again(self, waiting: References, until: int) -> None:
        """Read on up to a row, and keep of what comes before it only what waits; that is ascending."""
        while self._next < until:
            before, first = self._input.state(), self._next
            batch = self._input.next()
            if batch is None:
                raise StateError(ENDS_EARLIER)
            self._next += batch.num_rows
            low, high = waiting.searchsorted([first, min(self._next, until)])
            if low < high:
                self._marks.append((first, before))
                self._kept.add(waiting[low:high], take_rows(batch, waiting[low:high] - first))


ENDS_EARLIER = (
    "the stream ends before the place at which its state was saved; its sources give fewer rows than they did then"
)
