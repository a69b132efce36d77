"""Parquet files, split at row groups."""

from __future__ import annotations

import os
from collections.abc import Mapping  # noqa: TC003 - pydantic reads the annotation
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import xxhash
from pydantic import field_validator
from typing_extensions import override

from raydata_ext.errors import DamagedInputError, ReadError
from raydata_ext.sources.compression import is_system_failure
from raydata_ext.sources.hive import partition_columns, partition_types
from raydata_ext.sources.input_file import InputFile, Piece
from raydata_ext.sources.reader import HASH_BLOCK_BYTES, OnBadRow, Reader, require_columns, runs_of_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

BATCH_ROWS = 1000
_DAMAGE = (pa.ArrowException, OSError, EOFError, ValueError, MemoryError)
_BUFFER_BYTES = 1 << 20
"""Read ahead of each column, so that a column chunk of a gigabyte is not held whole."""


class ParquetReader(Reader):
    """Reads Parquet files; a file above the shard size is split at row groups.

    Checksums of pages are verified where there are any. Directories named `key=value`, below the directory that is read
    or from the first wildcard of a pattern on, are columns after those of the file, and take the place of columns of
    their names.

    Attributes:
        hive: whether names of directories are columns.
        partition_types: Arrow types of these columns, as in `{"year": "int64"}`. Those that are not given are int64
            where the values of all files are integers (`07` is none), else string.
    """

    format: ClassVar[str] = "parquet"
    suffixes: ClassVar[tuple[str, ...]] = (".parquet", ".pq")

    hive: bool = True
    partition_types: Mapping[str, str] = {}

    @field_validator("partition_types")
    @classmethod
    def _known(cls, types: Mapping[str, str]) -> Mapping[str, str]:
        for name in types.values():
            pa.type_for_alias(name)
        return types

    @property
    @override
    def rows_hold_names(self) -> bool:
        return bool(self._partitions)

    @override
    def fitted_to(self, files: Sequence[InputFile]) -> ParquetReader:
        found = partition_types(file.name for file in files) if self.hive else {}
        return self.model_validate({**self.model_dump(), "partition_types": {**found, **self.partition_types}})

    @property
    def _partitions(self) -> dict[str, str]:
        """The partition columns that are read, with their types."""
        kinds = self.partition_types.items()
        return {name: kind for name, kind in kinds if self.columns is None or name in self.columns}

    def split(self, file: InputFile, max_bytes: int) -> list[Piece]:
        """Runs of row groups of at most `max_bytes` compressed bytes (one row group where it is larger)."""
        if file.size <= max_bytes:
            return [Piece(file)]
        try:
            with _opened(Piece(file)) as (_, parquet):
                bounds = [_row_group_bytes(parquet, i) for i in range(parquet.metadata.num_row_groups)]
        except DamagedInputError:
            return [Piece(file)]  # an error when it is read, or set aside
        return runs_of_units(file, [high - low for low, high in bounds], max_bytes)

    def hash_piece(self, piece: Piece) -> str:
        """Hash of the bytes of the row groups and of what the footer says of their layout, or of the whole file.

        Sizes and statistics in the footer would be cheaper and are not enough: a changed value can leave both as they
        were.
        """
        if piece.end is None:
            return super().hash_piece(piece)
        with _opened(piece) as (stream, parquet):
            digest = xxhash.xxh3_128(parquet.schema_arrow.serialize())
            for number in range(piece.start, piece.end):
                digest.update(_layout(parquet, number).encode())
                low, high = _row_group_bytes(parquet, number)
                stream.seek(low)
                for at in range(low, high, HASH_BLOCK_BYTES):
                    digest.update(stream.read(min(HASH_BLOCK_BYTES, high - at)))
        return digest.hexdigest()

    def read(
        self,
        piece: Piece,
        on_bad_row: OnBadRow | None = None,  # noqa: ARG002 - no row can be told apart within damage
    ) -> Iterator[pa.RecordBatch]:
        """Batches of up to 1,000 rows; one of no rows where there is none."""
        with _opened(piece) as (_, parquet):
            schema, partitions = parquet.schema_arrow, self._partitions
            own = [name for name in schema.names if name not in partitions]
            names = [*own, *partitions] if self.columns is None else list(self.columns)
            require_columns(piece, names, [*own, *partitions])
            own = [name for name in names if name not in partitions]
            as_they_are = not partitions and own == schema.names
            groups = range(piece.start, parquet.metadata.num_row_groups if piece.end is None else piece.end)
            rows = 0
            try:
                for batch in parquet.iter_batches(BATCH_ROWS, list(groups), columns=own, use_threads=False):
                    rows += batch.num_rows
                    yield batch if as_they_are else self._with_partitions(piece, batch.select(own), names)
            except _DAMAGE as error:
                raise _damaged(piece, error, _byte_of_row(parquet, groups, rows)) from error
            if not rows:
                no_rows = pa.RecordBatch.from_pylist([], schema=schema).select(own)
                yield self._with_partitions(piece, no_rows, names)

    def _with_partitions(self, piece: Piece, batch: pa.RecordBatch, names: list[str]) -> pa.RecordBatch:
        if not self._partitions:
            return batch
        added = partition_columns(piece.file.name, self._partitions, batch.num_rows)
        columns = {**dict(zip(batch.schema.names, batch.columns, strict=True)), **added}
        fields = [batch.schema.field(name) if name not in added else pa.field(name, added[name].type) for name in names]
        return pa.RecordBatch.from_arrays([columns[name] for name in names], schema=pa.schema(fields))


@contextmanager
def _opened(piece: Piece) -> Iterator[tuple[Any, Any]]:
    """Open the file of a piece as (bytes, Parquet); what goes wrong with it then is a ReadError.

    A local file is read by Arrow itself, without a copy through Python. It is not mapped: what was read of a mapped
    file counts as memory of the process, and a file that is cut meanwhile ends it.
    """
    with piece.file.open() as raw:
        try:
            local = pa.OSFile(os.fsencode(piece.file.path)) if piece.file.is_local else None
            with local or pa.PythonFile(raw, mode="r") as source:
                yield source, pq.ParquetFile(source, buffer_size=_BUFFER_BYTES, page_checksum_verification=True)
        except _DAMAGE as error:
            raise _damaged(piece, error) from error


def _damaged(piece: Piece, error: Exception, byte_offset: int | None = None) -> ReadError:
    message = f"{piece.label}: not a Parquet file, or truncated or damaged ({error})"
    return ReadError(message) if is_system_failure(error) else DamagedInputError(message, byte_offset)


def _byte_of_row(parquet: Any, groups: Iterable[int], row: int) -> int | None:
    """Where the row group begins in which a row is, counted over some row groups."""
    for number in groups:
        row -= parquet.metadata.row_group(number).num_rows
        if row < 0:
            return _row_group_bytes(parquet, number)[0]
    return None


def _row_group_bytes(parquet: Any, number: int) -> tuple[int, int]:
    """Where the column chunks of a row group lie in the file: (first byte, one past the last)."""
    group = parquet.metadata.row_group(number)
    chunks = [group.column(i) for i in range(group.num_columns)]
    starts = [min(filter(None, (c.dictionary_page_offset, c.data_page_offset))) for c in chunks]
    ends = [start + c.total_compressed_size for start, c in zip(starts, chunks, strict=True)]
    return min(starts, default=0), max(ends, default=0)


def _layout(parquet: Any, number: int) -> str:
    """How the bytes of a row group are to be read."""
    group = parquet.metadata.row_group(number)
    low, _ = _row_group_bytes(parquet, number)
    chunks = [group.column(i) for i in range(group.num_columns)]
    places = [(c.path_in_schema, c.compression, c.num_values, c.data_page_offset - low) for c in chunks]
    return repr((group.num_rows, places))
