"""Parts of files by the units that formats are made of: ranges of bytes, row groups, record batches."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq

from raydata_ext.sources import FileShard, Piece
from raydata_ext.sources.arrow import ArrowReader
from raydata_ext.sources.input_file import CompressedRange
from raydata_ext.sources.parquet import ParquetReader
from raydata_ext.streaming.known import known_schema
from raydata_ext.streaming.order import even_cuts

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from raydata_ext.sources import Reader

_UNIT_BYTES = 1 << 20
"""Lines that are read at a time: in as many that come before it at most, a row is looked for."""

_REMOTE_UNIT_BYTES = 64 << 20
"""The same of remote files, where it takes several requests to begin a unit."""


def cut_files(shard: FileShard, parts: int | None) -> list[FileShard]:
    """Cut a shard of files as far as its format allows.

    Args:
        shard: what is cut.
        parts: about how many shards there should be; None is one for each unit, or one for each file where the units
            are bytes.
    """
    total = max(1, shard.num_bytes)
    return [
        FileShard(shard.reader, (part,))
        for piece in shard.pieces
        for part in _cut(shard, piece, None if parts is None else max(1, round(parts * piece.num_bytes / total)))
    ]


def units_of(shard: FileShard) -> list[Piece]:
    """Parts of a shard that can be read without those before them: ranges of lines, else its pieces."""
    return [unit for piece in shard.pieces for unit in _units(shard.reader, piece)]


def read_unit(reader: Reader, unit: Piece, row: int) -> Iterator[pa.RecordBatch]:
    """The rows of a unit from one on; row groups before it are not read."""
    if row and isinstance(reader, ParquetReader):
        unit, row = without_row_groups_before(unit, row)
    return rows_from(row, reader.read(unit))


def rows_from(row: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Leave out the rows before one."""
    for batch in batches:
        if row < batch.num_rows:
            yield batch.slice(row) if row else batch
        row = max(0, row - batch.num_rows)


def without_row_groups_before(piece: Piece, row: int) -> tuple[Piece, int]:
    """Leave out what comes before a row and need not be read to know it.

    Returns:
        The piece from a row group on, and the rows of it that still come before the row.
    """
    ends = np.cumsum(row_group_rows(piece))
    number = int(ends.searchsorted(row, side="right"))
    before = int(ends[number - 1]) if number else 0
    return replace(piece, start=piece.start + number, end=piece.start + len(ends)), row - before


def rows_in_footers(shard: FileShard) -> int | None:
    """Rows of a shard of Parquet files; None for other formats."""
    if not isinstance(shard.reader, ParquetReader):
        return None
    return sum(sum(row_group_rows(piece)) for piece in shard.pieces)


def schema_in_footers(shard: FileShard) -> pa.Schema | None:
    """Schema of the rows of a shard of Parquet or Arrow files; None for other formats."""
    if not isinstance(shard.reader, ParquetReader | ArrowReader):
        return None
    none = [replace(piece, start=0, end=0, part_bytes=0) for piece in shard.pieces]  # of no units, one empty batch
    return known_schema(next(shard.reader.read(piece)).schema for piece in none)


def row_group_rows(piece: Piece) -> list[int]:
    """Rows of each row group of a piece, as the footer of the file has them."""
    with piece.file.open() as stream:
        metadata = pq.read_metadata(stream)
    end = metadata.num_row_groups if piece.end is None else piece.end
    return [metadata.row_group(number).num_rows for number in range(piece.start, end)]


def _units(reader: Reader, piece: Piece) -> list[Piece]:
    if not reader.rows_are_lines or isinstance(piece, CompressedRange):
        return [piece]
    size = _UNIT_BYTES if piece.file.is_local else _REMOTE_UNIT_BYTES
    if piece.end is None:
        return reader.split(piece.file, size)
    starts = range(piece.start, piece.end, size)
    return [_part(piece, start, min(start + size, piece.end), min(size, piece.end - start)) for start in starts]


def _cut(shard: FileShard, piece: Piece, parts: int | None) -> list[Piece]:
    if isinstance(piece, CompressedRange):
        return [piece]  # what is before a part of it has to be decompressed to read the part
    if piece.end is None:
        units = shard.reader.split(piece.file, 1 if parts is None else max(1, -(-piece.num_bytes // parts)))
        in_bytes = any(unit.part_bytes == (unit.end or 0) - unit.start for unit in units)
        return [piece] if parts is None and in_bytes else units
    bounds = even_cuts(piece.end - piece.start, min(parts or 1, piece.end - piece.start))
    size = piece.num_bytes / (piece.end - piece.start)
    return [
        _part(piece, piece.start + low, piece.start + high, round(size * (high - low)))
        for low, high in pairwise(bounds)
    ]


def _part(piece: Piece, start: int, end: int, num_bytes: int) -> Piece:
    return replace(piece, start=start, end=end, part_bytes=num_bytes)
