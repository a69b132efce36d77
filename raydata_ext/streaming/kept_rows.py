"""Rows by number, as long as they are wanted: what a shuffle has in memory of rows that were read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from raydata_ext.streaming.rows import BATCH_ROWS, References, batch_of_table, widened
from raydata_ext.table import InMemoryTable, unify_schemas

if TYPE_CHECKING:
    from collections.abc import Sequence


class KeptRows:
    """Rows under numbers that are given to them.

    All rows are handed out under one schema, that of all that ever were kept: what is forgotten of them changes no
    row's columns.

    Args:
        schema: that of rows that were kept by another before; None is that there were none.
    """

    def __init__(self, schema: pa.Schema | None = None) -> None:
        self.schema = schema
        self._numbers: list[References] = []  # of each batch
        self._batches: list[pa.RecordBatch] = []
        self._table: InMemoryTable | None = None  # of all batches, made when rows are asked for
        self._ascending: References = np.empty(0, np.int64)  # all numbers, and where their rows are in the table
        self._places: References = np.empty(0, np.int64)

    def __len__(self) -> int:
        return sum(map(len, self._numbers))

    def add(self, numbers: References, batch: pa.RecordBatch) -> None:
        """Keep the rows of a batch.

        Raises:
            SchemaError: the columns do not go together with those of the rows before.
        """
        if self.schema is None or not batch.schema.equals(self.schema):
            self.schema = unify_schemas([batch.schema] if self.schema is None else [self.schema, batch.schema])
        self._numbers.append(numbers)
        self._batches.append(batch)
        self._table = None

    def gather(self, numbers: References, max_bytes: int | None = None) -> pa.RecordBatch:
        """Kept rows, in the order of `numbers`.

        Args:
            numbers: of the rows, one at least.
            max_bytes: only the first rows that take no more, about; one at least.
        """
        if self._table is None:
            self._table = self._join()
        rows = self._table.find_rows(self._places.take(self._ascending.searchsorted(numbers)))
        return batch_of_table(rows.copy(0, len(numbers) if max_bytes is None else rows.stop_within(0, max_bytes)))

    def keep_only(self, wanted: Sequence[References]) -> None:
        """Forget all others; a copy is made, and only where it frees half of the memory.

        Args:
            wanted: numbers of kept rows, each once.
        """
        if len(self) <= 2 * sum(map(len, wanted)) + BATCH_ROWS:
            return
        numbers = np.sort(np.concatenate(wanted))
        self._batches = [self.gather(numbers)] if len(numbers) else []
        self._numbers = [numbers] if len(numbers) else []
        self._table = None

    def _join(self) -> InMemoryTable:
        assert self.schema is not None
        self._batches = [widened(batch, self.schema) for batch in self._batches]
        joined = np.concatenate(self._numbers)
        self._places = np.argsort(joined, kind="stable")
        self._ascending = joined.take(self._places)
        return InMemoryTable(pa.Table.from_batches(self._batches, self.schema))
