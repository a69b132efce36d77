"""A step at work on one shard: what an operator is, and the counts that each of them keeps.

Where bad rows are set aside, a step that fails on a chunk is tried on parts of it until the rows to blame are found.
The others are put back in front of the stream, so that batches come out as if the bad rows had never been there.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from raydata_ext.engine.bad_rows import NoRowToBlameError, failing_rows
from raydata_ext.engine.chunk import Chunk, ChunkStream
from raydata_ext.engine.quarantine import failure_of, failure_of_worker
from raydata_ext.errors import PlanError, SchemaError, StepError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from raydata_ext.engine.trail import Trail
    from raydata_ext.engine.watch import StepWatch

_BLAMELESS = (
    "the step fails on these rows together and on neither half of them, so that no row can be set aside; if it is their"
    " types that do not go together, give the step a schema="
)


class Operator(ABC):
    """One step over one shard: turns a stream of chunks into a stream of chunks.

    Args:
        label: the step as messages name it.
        trail: where the rows come from.

    Attributes:
        rows_in: rows given to it.
        rows_out: rows that came out.
        dropped: rows that it left out, by reason ("" where none was given).
        counts: what its function counted, by name, see `Counted`.
        set_aside: rows that it failed on.
        seconds: time in the step itself, not in those before it.
        quarantine: takes a row (a chunk of one) that the step fails on, and why; None raises what the step raises.
        watch: looks on where a worker has died of the shard before; None where none has.
    """

    def __init__(self, label: str, trail: Trail) -> None:
        self.label = label
        self.trail = trail
        self.rows_in = 0
        self.rows_out = 0
        self.dropped: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.set_aside = 0
        self.seconds = 0.0
        self.quarantine: Callable[[Chunk, dict[str, str]], None] | None = None
        self.watch: StepWatch | None = None
        self._failed: dict[int, Exception] = {}  # rows of the present chunk that the step did without, by position

    @property
    def rows_added(self) -> int:
        """Rows that came out beyond those that were given; here none, for each is handed on, dropped or set aside."""
        return 0

    def follow(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Do the step on all rows.

        Raises:
            StepError: a user's function raised, or returned what cannot be used.
            SchemaError: values of a column do not go together, or do not fit their schema.
            PlanError: the step names a column that the rows do not have.
        """
        stream = ChunkStream(self._counted(chunks))
        for chunk in self.cut(stream):
            started = time.perf_counter()
            result = self._done(chunk) if self.quarantine is None else self._done_without_bad_rows(chunk, stream)
            self.seconds += time.perf_counter() - started
            if result is not None:
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

    def require_columns(self, chunk: Chunk, names: Collection[str]) -> None:
        """Raise where the step names a column that the rows do not have."""
        if not names:
            return
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
            yield chunk if self.watch is None else self._admitted(chunk, self.watch)

    def _admitted(self, chunk: Chunk, watch: StepWatch) -> Chunk:
        """The chunk with its rows numbered, without those that would kill the process."""
        first = self.rows_in - chunk.num_rows
        chunk = Chunk(chunk.batch, chunk.origins, np.arange(first, self.rows_in, dtype=np.int64))
        excluded = {
            number - first: reason for number, reason in watch.excluded.items() if first <= number < self.rows_in
        }
        self._set_aside(chunk, {row: failure_of_worker(reason) for row, reason in excluded.items()})
        return chunk.without(excluded) if excluded else chunk

    def _done(self, chunk: Chunk) -> Chunk:
        self._failed = {}
        if not chunk.num_rows:
            return self.apply_empty(chunk)
        try:
            return self.apply(chunk)
        except SchemaError as error:
            raise SchemaError(f"{self.label}: {self.trail.place(chunk.origins)}: {error}") from error

    def _done_without_bad_rows(self, chunk: Chunk, stream: ChunkStream) -> Chunk | None:
        """Do the step, or set aside the rows that it fails on and put back the others."""
        if self.watch is not None:
            for part in self.watch.suspicious_parts(chunk):
                self._error_of(part)
        counts = self.counts.copy()
        try:
            result = self._done(chunk)
        except (StepError, SchemaError) as error:
            self.counts = counts
            failed = self._find_failing(chunk, error)
            stream.put_back(chunk.without(failed))
            result = None
        else:
            failed = self._failed
        self._set_aside(chunk, {position: failure_of(error) for position, error in failed.items()})
        return result

    def _find_failing(self, chunk: Chunk, error: Exception) -> Mapping[int, Exception]:
        try:
            return failing_rows(chunk, error, self._error_of)
        except NoRowToBlameError as found:
            place = self.trail.place(found.rows.origins)
            raise type(error)(f"{self.label}: {place}: {_BLAMELESS}. {found.error}") from found.error

    def _error_of(self, part: Chunk) -> Exception | None:
        """What the step raises for some rows; else nothing comes of it."""
        dropped, counts = self.dropped.copy(), self.counts.copy()
        try:
            self._done(part)
        except (StepError, SchemaError) as error:
            return error
        finally:
            self.dropped, self.counts = dropped, counts
        return None

    def _set_aside(self, chunk: Chunk, failures: Mapping[int, dict[str, str]]) -> None:
        for position, failure in failures.items():
            assert self.quarantine is not None
            self.set_aside += 1
            self.quarantine(chunk.slice(position, 1), failure)
