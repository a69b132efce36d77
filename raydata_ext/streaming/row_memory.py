"""Rows that were read and are not delivered yet, where they cannot be read again one by one."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pyarrow as pa
from typing_extensions import override

from raydata_ext.errors import StateError
from raydata_ext.streaming.nodes.base import Cursor, State
from raydata_ext.streaming.rows import BATCH_ROWS, References, batch_of_table, widened
from raydata_ext.table import InMemoryTable, unify_schemas

_SHORTER = (
    "the stream ends before the place at which its state was saved; its sources give fewer rows than they did then"
)


class RowMemory(Cursor):
    """Numbers the rows of a cursor as they come and keeps them until they are forgotten.

    So the rows of a stream that has no references can be referred to by the one shuffle that owns this memory. A saved
    position holds no rows: to resume, the stream is read again from the oldest row that was kept.

    Args:
        batches: gives record batches.
    """

    def __init__(self, batches: Cursor) -> None:
        self._input = batches
        self._next = 0
        self._marks: deque[tuple[int, State]] = deque()  # first row of each batch read, and the position before it
        self._batches: list[pa.RecordBatch] = []
        self._numbers: list[References] = []  # of the rows of each kept batch; ascending
        self._schema: pa.Schema | None = None  # of all rows read so far; what is kept of them changes no row's columns
        self._table: InMemoryTable | None = None  # of all kept batches, made when rows are asked for
        self._is_there = False  # whether `recall` has led to the position that is to be loaded

    @override
    def next(self) -> References | None:
        before = self._input.state()
        batch = self._input.next()
        if batch is None:
            return None
        numbers: References = np.arange(self._next, self._next + batch.num_rows)
        if len(numbers):
            self._marks.append((self._next, before))
            self._next += len(numbers)
            self._batches.append(batch)
            self._numbers.append(numbers)
            self._table = None
            if self._schema is None or not batch.schema.equals(self._schema):
                self._schema = unify_schemas([batch.schema] if self._schema is None else [self._schema, batch.schema])
        return numbers

    @override
    def state(self) -> dict[str, Any]:
        return {"next": self._next, "input": self._input.state()}

    @override
    def load(self, state: dict[str, Any]) -> None:
        if not self._is_there:
            self._input.load(state["input"])
            self._next = state["next"]
        self._is_there = False

    def gather(self, references: References) -> pa.RecordBatch:
        """Rows that are kept, in the order of their numbers in `references`."""
        if self._table is None:
            assert self._schema is not None
            batches = [widened(batch, self._schema) for batch in self._batches]
            self._table = InMemoryTable(pa.Table.from_batches(batches, self._schema))
            self._numbers = [np.concatenate(self._numbers)]
        return batch_of_table(self._table.fast_gather(self._numbers[0].searchsorted(references)))

    def forget(self, waiting: References) -> None:
        """Keep only rows that wait, and those newer than all of them; a copy is made when it frees half of the memory.

        Args:
            waiting: numbers of rows, one at least; in any order.
        """
        oldest, newest = int(waiting.min()), int(waiting.max())
        while len(self._marks) > 1 and self._marks[1][0] <= oldest:
            self._marks.popleft()
        unread = self._next - 1 - newest
        if sum(map(len, self._numbers)) - unread > 2 * len(waiting) + BATCH_ROWS:
            kept = np.concatenate([np.sort(waiting), np.arange(newest + 1, self._next)])
            self._batches = [self.gather(kept)]
            self._numbers = [kept]
            self._table = None

    def mark(self, waiting: References) -> dict[str, Any]:
        """Where to begin to read in order to have all waiting rows again; never changed later."""
        oldest = int(waiting.min()) if len(waiting) else self._next
        if oldest < self._next:
            first, state = next(mark for mark in reversed(self._marks) if mark[0] <= oldest)
        else:  # all that waits, if anything, is in the batch that comes next: just after `load` that is so
            first, state = self._next, self._input.state()
        return {"first": first, "input": state, "schema": self._schema}

    def recall(self, mark: dict[str, Any], waiting: References, until: int) -> None:
        """Read waiting rows again.

        Args:
            mark: from `mark`.
            waiting: their numbers.
            until: number of the first row that is not to be read yet.
        """
        self._marks.clear()
        self._input.load(mark["input"])
        self._next = mark["first"]
        self._schema = mark["schema"]
        self._batches, self._numbers, self._table = [], [], None
        ascending = np.sort(waiting[waiting < until])
        while self._next < until:
            numbers = self.next()
            if numbers is None:
                raise StateError(_SHORTER)
            if len(numbers):
                self._drop_all_but(ascending)
        self._is_there = self._next == until

    def _drop_all_but(self, waiting: References) -> None:
        """Keep of the batch that was read last only what waits; that is ascending here."""
        batch, numbers = self._batches.pop(), self._numbers.pop()
        low, high = waiting.searchsorted([numbers[0], numbers[-1] + 1])
        if low < high:
            self._batches.append(batch.take(waiting[low:high] - numbers[0]))
            self._numbers.append(waiting[low:high])
