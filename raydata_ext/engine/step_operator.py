"""A step at work on one shard: what an operator is.

An operator turns a chunk into a chunk; cutting the stream into the batches that it wants is not its business.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable

import pyarrow as pa

from raydata_ext.engine.chunk import Chunk
from raydata_ext.errors import PlanError

ANY_SIZE = -1


class Operator(ABC):
    """One step over one shard.

    Attributes:
        label: the step as messages name it.
        batch_rows: rows of the chunks that it is given; None is all rows in one chunk, `ANY_SIZE` as they come.
        drop_last: whether a last chunk shorter than `batch_rows` is left out.
        dropped: rows that it filtered out, by reason ("" where none was given).
    """

    batch_rows: int | None = ANY_SIZE
    drop_last = False

    def __init__(self, label: str) -> None:
        self.label = label
        self.dropped: Counter[str] = Counter()

    def __call__(self, chunk: Chunk) -> Chunk:
        """Do the step; a chunk without rows only gets the schema that is known without calling anything."""
        return self.apply(chunk) if chunk.num_rows else self.apply_empty(chunk)

    @abstractmethod
    def apply(self, chunk: Chunk) -> Chunk:
        """Do the step on one or more rows."""

    def apply_empty(self, chunk: Chunk) -> Chunk:
        """Do the step on no rows."""
        return self.apply(chunk)


def check_columns(label: str, batch: pa.RecordBatch, names: Iterable[str]) -> None:
    """Raise where a step names a column that rows do not have."""
    for name in names:
        if name not in batch.schema.names:
            raise PlanError(f"{label}: there is no column {name!r}; the columns are {batch.schema.names}")


def without_columns(batch: pa.RecordBatch, names: tuple[str, ...]) -> pa.RecordBatch:
    """The batch without some of its columns; its number of rows stays where no column does."""
    return batch.select([name for name in batch.schema.names if name not in names])
