"""Parquet files, split at row groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

from raydata_ext.errors import ReadError
from raydata_ext.sources.input_file import InputFile, Piece
from raydata_ext.sources.reader import HASH_BLOCK_BYTES, Reader, runs_of_units

BATCH_ROWS = 1000


class ParquetReader(Reader):
    """Reads Parquet files; a file above the shard size is split at row groups."""

    format: ClassVar[str] = "parquet"
    suffixes: ClassVar[tuple[str, ...]] = (".parquet", ".pq")

    def split(self, file: InputFile, max_bytes: int) -> list[Piece]:
        """Runs of row groups of at most `max_bytes` compressed bytes (one row group where it is larger)."""
        if file.size <= max_bytes:
            return [Piece(file)]
        with _open(file) as parquet:
            bounds = [_row_group_bytes(parquet, i) for i in range(parquet.metadata.num_row_groups)]
        return runs_of_units(file, [high - low for low, high in bounds], max_bytes)

    def hash_piece(self, piece: Piece) -> str:
        """Hash of the bytes of the row groups and of the schema, or of the whole file.

        Sizes and statistics in the footer would be cheaper and are not enough: a changed value can leave both as they were.
        """
        if piece.end is None:
            return super().hash_piece(piece)
        with _open(piece.file) as parquet:
            bounds = [_row_group_bytes(parquet, i) for i in range(piece.start, piece.end)]
            digest = xxhash.xxh3_128(parquet.schema_arrow.serialize())
        with piece.file.open() as stream:
            for low, high in bounds:
                stream.seek(low)
                for at in range(low, high, HASH_BLOCK_BYTES):
                    digest.update(stream.read(min(HASH_BLOCK_BYTES, high - at)))
        return digest.hexdigest()

    def read(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        """Batches of up to 1,000 rows."""
        with _open(piece.file) as parquet:
            groups = range(parquet.metadata.num_row_groups) if piece.end is None else range(piece.start, piece.end)
            names = parquet.schema_arrow.names if self.columns is None else list(self.columns)
            missing = [name for name in names if name not in parquet.schema_arrow.names]
            if missing:
                raise ReadError(
                    f"{piece.label}: no column {missing[0]!r}; the file has {parquet.schema_arrow.names}; check columns="
                )
            try:
                for batch in parquet.iter_batches(BATCH_ROWS, list(groups), columns=names, use_threads=False):
                    yield batch.select(names)
            except (pa.ArrowException, OSError) as error:
                raise ReadError(f"{piece.label}: damaged Parquet data ({error})") from error


def _open(file: InputFile) -> Any:
    try:
        return pq.ParquetFile(file.path if file.is_local else file.open(), memory_map=file.is_local)
    except (pa.ArrowException, OSError) as error:
        raise ReadError(f"{file.path}: not a Parquet file, or truncated ({error})") from error


def _row_group_bytes(parquet: Any, number: int) -> tuple[int, int]:
    """Where the column chunks of a row group lie in the file: (first byte, one past the last)."""
    group = parquet.metadata.row_group(number)
    chunks = [group.column(i) for i in range(group.num_columns)]
    starts = [min(filter(None, (c.dictionary_page_offset, c.data_page_offset))) for c in chunks]
    return min(starts), max(start + c.total_compressed_size for start, c in zip(starts, chunks, strict=True))
