"""Parts of files by the units that formats are made of: ranges of bytes, row groups, record batches."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from raydata_ext.sources import FileShard, Piece
from raydata_ext.sources.input_file import CompressedRange
from raydata_ext.sources.parquet import ParquetReader
from raydata_ext.streaming.order import even_cuts

if TYPE_CHECKING:
    from collections.abc import Iterator


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


def without_units_before(shard: FileShard, row: int) -> tuple[FileShard, int]:
    """Leave out what comes before a row and need not be read to know it.

    Returns:
        The shard from a unit on, and the rows of it that still come before the row.
    """
    if row == 0 or not isinstance(shard.reader, ParquetReader):
        return shard, row
    for number, piece in enumerate(shard.pieces):
        first, last = piece.start, piece.start
        for rows in _row_group_rows(piece):
            last += 1
            if row < rows:
                rest = replace(piece, start=first, end=piece.end)
                return FileShard(shard.reader, (rest, *shard.pieces[number + 1 :])), row
            row -= rows
            first = last
    return FileShard(shard.reader, ()), row


def _row_group_rows(piece: Piece) -> Iterator[int]:
    with piece.file.open() as stream:
        metadata = pq.read_metadata(stream)
    for number in range(piece.start, metadata.num_row_groups if piece.end is None else piece.end):
        yield metadata.row_group(number).num_rows


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
        replace(piece, start=piece.start + low, end=piece.start + high, part_bytes=round(size * (high - low)))
        for low, high in pairwise(bounds)
    ]
