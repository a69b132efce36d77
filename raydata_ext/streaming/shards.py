"""What a stream asks of a shard that it reads front to back: files of any format, or a user's generator."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from raydata_ext.errors import FingerprintError, RaydataError, SchemaError, StepError
from raydata_ext.fingerprint import combine, hash_value
from raydata_ext.formatting import batch_from_rows
from raydata_ext.sources import FileShard
from raydata_ext.streaming.file_units import cut_files, without_units_before
from raydata_ext.streaming.read_ahead import read_ahead
from raydata_ext.streaming.rows import BATCH_ROWS
from raydata_ext.table import cast_batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from raydata_ext.plan import InputShard
    from raydata_ext.sources import Piece


class StreamShard(Protocol):
    """An ordered run of rows that can be read again, from any row on; picklable."""

    @property
    def label(self) -> str:
        """The shard as messages name it."""

    @property
    def num_rows(self) -> int | None:
        """Rows, where they are known without reading."""

    @property
    def identity(self) -> str:
        """Hash of what the shard is, cheap: no content is read for it."""

    def read_from(self, row: int) -> Iterator[pa.RecordBatch]:
        """The rows from this one on. The batches depend on nothing but `row`."""

    def cut(self, parts: int | None) -> Sequence[StreamShard]:
        """About so many shards that together are this one; just itself where it cannot be cut.

        Args:
            parts: how many; None is one for each unit of the format (row group, record batch).
        """


@dataclass(frozen=True, eq=False)
class ReadShard:
    """A shard of a plan, in the form that streams read.

    Attributes:
        shard: the shard.
    """

    shard: InputShard

    @property
    def label(self) -> str:
        """The shard as messages name it."""
        return self.shard.label

    @property
    def num_rows(self) -> int | None:
        """Rows, where they are known."""
        return self.shard.num_rows

    @property
    def identity(self) -> str:
        """What is read and how: names and sizes of files, and tags where the file system vouches for the content."""
        return combine(self.shard.digest, *(part for piece in self.shard.pieces for part in _identity(piece)))

    def read_from(self, row: int) -> Iterator[pa.RecordBatch]:
        """Read, and leave out what comes before the row; row groups before it are not read."""
        shard = self.shard
        if isinstance(shard, FileShard):
            shard, row = without_units_before(shard, row)
        for batch in read_ahead(batch for _, batch in shard.read()):
            if row < batch.num_rows:
                yield batch.slice(row) if row else batch
            row = max(0, row - batch.num_rows)

    def cut(self, parts: int | None) -> Sequence[StreamShard]:
        """Cut at line ends, row groups or record batches."""
        if not isinstance(self.shard, FileShard):
            return [self]
        return [ReadShard(shard) for shard in cut_files(self.shard, parts)]


@dataclass(frozen=True, eq=False)
class GeneratorShard:
    """What a user's generator gives for some keyword arguments.

    The generator is called again to resume, and its first rows are left out; so it must give the same rows each time.

    Attributes:
        function: returns an iterable of rows, each a mapping of column to value.
        kwargs: its keyword arguments.
        number: of the shard, for messages.
        schema_of_rows: schema of the rows; None is what the values of each batch say.
    """

    function: Callable[..., Iterable[Mapping[str, Any]]]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    number: int = 0
    schema_of_rows: pa.Schema | None = None

    @property
    def label(self) -> str:
        """The shard as messages name it."""
        return f"{getattr(self.function, '__qualname__', type(self.function).__qualname__)}[{self.number}]"

    @property
    def num_rows(self) -> None:
        """Not known."""
        return None

    @property
    def identity(self) -> str:
        """The name of the function and its arguments; arguments that have no fingerprint count by their type."""
        parts = [part for name in sorted(self.kwargs) for part in (name, _hash(self.kwargs[name]))]
        return combine("generator", getattr(self.function, "__qualname__", ""), *parts)

    def read_from(self, row: int) -> Iterator[pa.RecordBatch]:
        """Batches that grow from one row to 1,000, so that the first row of a slow generator comes at once."""
        rows = self._rows_from(row)
        while batch := list(islice(rows, min(max(1, row), BATCH_ROWS))):
            yield self._batch(row, batch)
            row += len(batch)

    def cut(self, parts: int | None) -> Sequence[StreamShard]:  # noqa: ARG002 - it cannot be cut
        """The shard itself: only the generator could tell where to begin."""
        return [self]

    def _rows_from(self, row: int) -> Iterator[Mapping[str, Any]]:
        try:
            yield from islice(self.function(**self.kwargs), row, None)
        except RaydataError:
            raise
        except Exception as error:
            raise StepError(f"generator {self.label}: {type(error).__name__}: {error}") from error

    def _batch(self, first: int, rows: list[Mapping[str, Any]]) -> pa.RecordBatch:
        try:
            batch = batch_from_rows(rows)
            return batch if self.schema_of_rows is None else cast_batch(batch, self.schema_of_rows, add_missing=True)
        except (SchemaError, TypeError, AttributeError) as error:
            raise SchemaError(f"generator {self.label}: rows from {first} on: {error}") from error


@runtime_checkable
class _HasRows(Protocol):
    def read_from(self, row: int) -> Iterator[pa.RecordBatch]: ...


def stream_shard(shard: InputShard | StreamShard) -> StreamShard:
    """A shard in the form that streams read."""
    return shard if isinstance(shard, _HasRows) else ReadShard(shard)


def _identity(piece: Piece) -> tuple[str | int, ...]:
    file = piece.file
    return (
        file.name,
        file.size,
        file.version if file.has_etag else "",
        piece.start,
        -1 if piece.end is None else piece.end,
    )


def _hash(value: object) -> str:
    try:
        return hash_value(value)
    except FingerprintError:
        return type(value).__qualname__
