"""What a stream asks of a shard that it reads front to back: files of any format, or a user's generator."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from raydata_ext.errors import FingerprintError, RaydataError, SchemaError, StepError
from raydata_ext.fingerprint import combine, hash_value
from raydata_ext.formatting import batch_from_rows
from raydata_ext.sources import FileShard
from raydata_ext.sources.jsonl import JsonLinesReader
from raydata_ext.streaming.file_units import (
    cut_files,
    read_unit,
    rows_from,
    rows_in_footers,
    schema_in_footers,
    units_of,
)
from raydata_ext.streaming.read_ahead import read_ahead
from raydata_ext.streaming.rows import BATCH_ROWS
from raydata_ext.table import cast_batch, take_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from raydata_ext.plan import InputShard
    from raydata_ext.sources import Piece
    from raydata_ext.streaming.rows import References


class StreamShard(Protocol):
    """An ordered run of rows that can be read again, from any row on; picklable."""

    @property
    def label(self) -> str:
        """The shard as messages name it."""

    @property
    def num_rows(self) -> int | None:
        """Rows, where they are known without reading."""

    @property
    def schema(self) -> pa.Schema | None:
        """Schema of the rows, where it is known without reading."""

    @property
    def identity(self) -> str:
        """Hash of what the shard is, cheap: no content is read for it."""

    @property
    def num_units(self) -> int:
        """Into how many units it is divided; a unit can be read without those before it."""

    def read_from(self, unit: int, row: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The rows from one on, each batch with the number of its unit. The batches depend on nothing but the place.

        Args:
            unit: number of a unit.
            row: number of the row in the unit.
        """

    def read_rows(self, unit: int, rows: References) -> Iterator[pa.RecordBatch]:
        """Some rows of a unit.

        Args:
            unit: its number.
            rows: their numbers in the unit, ascending, one at least.
        """

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
        counted_rows: its rows, where they were counted.
        schema: schema of its rows, where footers were asked.
    """

    shard: InputShard
    counted_rows: int | None = None
    schema: pa.Schema | None = None

    @property
    def label(self) -> str:
        """The shard as messages name it."""
        return self.shard.label

    @property
    def num_rows(self) -> int | None:
        """Rows, where they are known."""
        return self.shard.num_rows if self.counted_rows is None else self.counted_rows

    @property
    def identity(self) -> str:
        """What is read and how: names and sizes of files, and tags where the file system vouches for the content."""
        return combine(self.shard.digest, *(part for piece in self.shard.pieces for part in _identity(piece)))

    @property
    def num_units(self) -> int:
        """Ranges of lines, or files where they are not lines; one of what is no file."""
        return max(1, len(self._units))

    @cached_property
    def _units(self) -> Sequence[Piece]:
        return units_of(self.shard) if isinstance(self.shard, FileShard) else ()

    def read_from(self, unit: int, row: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Read on a thread; units and row groups before the row are not read."""
        return read_ahead(self._batches(unit, row))

    def _batches(self, unit: int, row: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        if not isinstance(self.shard, FileShard):
            yield from ((0, batch) for batch in rows_from(row, (batch for _, batch in self.shard.read())))
            return
        for number, piece in enumerate(self._units[unit:], unit):
            for batch in read_unit(self.shard.reader, piece, row):
                yield number, batch
            row = 0

    def read_rows(self, unit: int, rows: References) -> Iterator[pa.RecordBatch]:
        """Of JSON lines, only these are parsed."""
        if isinstance(self.shard, FileShard) and isinstance(self.shard.reader, JsonLinesReader):
            return iter([self.shard.reader.read_rows(self._units[unit], rows.tolist())])
        return _chosen(self._batches(unit, int(rows[0])), unit, rows)

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
        schema: schema of the rows; None is what the values of each batch say.
    """

    function: Callable[..., Iterable[Mapping[str, Any]]]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    number: int = 0
    schema: pa.Schema | None = None

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

    @property
    def num_units(self) -> int:
        """One: only the generator could tell where another begins."""
        return 1

    def read_from(self, unit: int, row: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Batches that grow from one row to 1,000, so that the first row of a slow generator comes at once."""
        rows = self._rows_from(row)
        while batch := list(islice(rows, min(max(1, row), BATCH_ROWS))):
            yield unit, self._batch(row, batch)
            row += len(batch)

    def read_rows(self, unit: int, rows: References) -> Iterator[pa.RecordBatch]:
        """Those that the generator gives between them are left out."""
        return _chosen(self.read_from(unit, int(rows[0])), unit, rows)

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
            return batch if self.schema is None else cast_batch(batch, self.schema, add_missing=True)
        except (SchemaError, TypeError, AttributeError) as error:
            raise SchemaError(f"generator {self.label}: rows from {first} on: {error}") from error


@runtime_checkable
class _HasUnits(Protocol):
    @property
    def num_units(self) -> int: ...


def stream_shard(shard: InputShard | StreamShard) -> StreamShard:
    """A shard in the form that streams read."""
    return shard if isinstance(shard, _HasUnits) else ReadShard(shard)


def counted(shard: StreamShard) -> StreamShard:
    """The shard with its rows counted, where footers of files tell them."""
    if isinstance(shard, ReadShard) and isinstance(shard.shard, FileShard):
        return replace(shard, counted_rows=rows_in_footers(shard.shard))
    return shard


def typed(shard: StreamShard) -> StreamShard:
    """The shard with its schema known, where its files tell it beside the rows."""
    if isinstance(shard, ReadShard) and isinstance(shard.shard, FileShard):
        return replace(shard, schema=schema_in_footers(shard.shard))
    return shard


def _chosen(batches: Iterator[tuple[int, pa.RecordBatch]], unit: int, rows: References) -> Iterator[pa.RecordBatch]:
    """Some rows out of batches that begin with the first of them; nothing is read beyond the last."""
    first = int(rows[0])
    for number, batch in batches:
        low, high = rows.searchsorted([first, first + batch.num_rows])
        if number == unit and low < high:
            yield take_rows(batch, rows[low:high] - first)
        first += batch.num_rows
        if number != unit or high == len(rows):
            return


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
