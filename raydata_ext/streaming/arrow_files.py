"""Local Arrow files as tables that are mapped where they are, so that their rows can be referred to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from raydata_ext.plan import TableShard
from raydata_ext.sources import FileShard
from raydata_ext.sources.arrow import ArrowReader
from raydata_ext.sources.reader import require_columns
from raydata_ext.table import MemoryMappedTable, Table, concat_tables

if TYPE_CHECKING:
    from collections.abc import Iterable

    from raydata_ext.plan import InputShard
    from raydata_ext.sources import Piece
    from raydata_ext.streaming.shards import StreamShard


def mapped_where_possible(shards: Iterable[InputShard | StreamShard]) -> list[InputShard | StreamShard]:
    """The same shards, those of local and uncompressed Arrow files as shards of tables.

    Raises:
        CorruptFileError: such a file is truncated, damaged or no Arrow file.
        ReadError: one lacks a column that is to be read.
    """
    files: dict[str, MemoryMappedTable] = {}  # each is opened once, however many shards it is cut into
    return [_mapped(shard, files) if isinstance(shard, FileShard) else shard for shard in shards]


def is_mapped(table: Table) -> bool:
    """Whether rows lie in mapped files as they are; those of compressed files are decompressed into memory."""
    batch = next(table.iter_batches(), None)
    buffers = [] if batch is None else [buffer for column in batch.columns for buffer in column.buffers()]
    return all(buffer.parent is not None for buffer in buffers if buffer is not None and buffer.size)


def _mapped(shard: FileShard, files: dict[str, MemoryMappedTable]) -> InputShard:
    if not isinstance(shard.reader, ArrowReader) or not all(piece.file.is_local for piece in shard.pieces):
        return shard
    tables = [_rows_of(piece, files) for piece in shard.pieces]
    if not all(map(is_mapped, tables)):
        return shard
    columns = shard.reader.columns
    if columns is not None:
        for piece, table in zip(shard.pieces, tables, strict=True):
            require_columns(piece, columns, table.column_names)
        tables = [table.select(columns) for table in tables]
    return TableShard(concat_tables(tables))


def _rows_of(piece: Piece, files: dict[str, MemoryMappedTable]) -> Table:
    file = piece.file
    if file.path not in files:
        files[file.path] = MemoryMappedTable.from_file(file.path, num_bytes=file.size)
    table = files[file.path]
    if piece.end is None:
        return table
    ends = np.cumsum([0, *(len(chunk) for chunk in table.column(0).chunks)])  # a chunk is a record batch of the file
    start, stop = int(ends[piece.start]), int(ends[piece.end])
    return table.slice(start, stop - start)
