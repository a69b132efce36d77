"""A step at work on one shard: what an operator is, and the counts that each of them keeps."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING

from raydata_ext.errors import PlanError, SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from raydata_ext.engine.chunk import Chunk
    from raydata_ext.engine.trail import Trail


class Operator(ABC):
    """One step over one shard: turns a stream of chunks into a stream of chunks.

    Args:
        label: the step as messages name it.
        trail: where the rows come from.

    Attributes:
        rows_in: rows given to it.
        rows_out: rows that came out.
        dropped: rows that it left out, by reason ("" where none was given).
        seconds: time in the step itself, not in those before it.
    """

    def __init__(self, label: str, trail: Trail) -> None:
        self.label = label
        self.trail = trail
        self.rows_in = 0
        self.rows_out = 0
        self.dropped: Counter[str] = Counter()
        self.seconds = 0.0

    def follow(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Do the step on all rows.

        Raises:
            StepError: a user's function raised, or returned what cannot be used.
            SchemaError: values of a column do not go together, or do not fit their schema.
            PlanError: the step names a column that the rows do not have.
        """
        for chunk in self.cut(self._counted(chunks)):
            started = time.perf_counter()
            result = self._done(chunk)
            self.seconds += time.perf_counter() - started
            self.rows_out += result.num_rows
            yield result

    def cut(self, chunks: Iterable[Chunk]) -> Iterable[Chunk]:
        """Cut the stream into the chunks that `apply` is to be given; here: as they come."""
        return chunks

    @abstractmethod
    def apply(self, chunk: Chunk) -> Chunk:
        """Do the step on one row or more."""

    @abstractmethod
    def apply_empty(self, chunk: Chunk) -> Chunk:
        """Do the step on no rows: the result has the schema that is known without calling a function.

        Columns that the step names may be missing, where an earlier step would have made them out of rows.
        """

    def require_columns(self, chunk: Chunk, names: Iterable[str]) -> None:
        """Raise where the step names a column that the rows do not have."""
        present = chunk.batch.schema.names
        missing = [name for name in names if name not in present]
        if missing:
            raise PlanError(
                f"{self.label}: {self.trail.place(chunk.origins)}: there is no column {missing[0]!r}; these rows have"
                f" {present}. A column that only some rows have must be in the schema= of the step or source it is from"
            )

    def _counted(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            self.rows_in += chunk.num_rows
            yield chunk

    def _done(self, chunk: Chunk) -> Chunk:
        if not chunk.num_rows:
            return self.apply_empty(chunk)
        try:
            return self.apply(chunk)
        except SchemaError as error:
            raise SchemaError(f"{self.label}: {self.trail.place(chunk.origins)}: {error}") from error
