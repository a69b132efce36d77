"""The rows of a data set as the shards that a plan starts from.

Each mapped file is a shard, or several where it is large, and so is each table in memory; rows under an indices mapping
are cut by their number. Where the cuts are depends on the rows of a file and on nothing else, so that a file keeps its
results when others come or go, and whatever the number of workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from raydata_ext.fingerprint import combine, hash_value
from raydata_ext.plan import SharedShard, TableShard
from raydata_ext.table import ConcatenationTable, InMemoryTable, Table, concat_tables, list_table_cache_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from raydata_ext.dataset.indexing import Positions
    from raydata_ext.dataset.indices import Indices
    from raydata_ext.plan import InputShard
    from raydata_ext.sources import BadRow, Piece

MAX_SHARD_BYTES = 128 << 20
"""What is larger is cut, so that one big file is work for several workers."""

_BATCH_ROWS = 1000
_BATCH_BYTES = 16 << 20
_NARROW = 0.5
"""A part of a mapping is held against a window of the table where that leaves out at least this share of it."""


@dataclass(frozen=True, slots=True)
class KnownFile:
    """What a receipt or manifest tells of a mapped file.

    Attributes:
        checksum: of the file; None where it is not told.
        made_of: the inputs that its rows were made of, for messages.
        home: the host that made it; empty where that is not told.
    """

    checksum: str | None
    made_of: tuple[str, ...] = ()
    home: str = ""


@dataclass(frozen=True, eq=False)
class SelectedShard:
    """Rows of a table by number, in the order of an indices mapping.

    Attributes:
        base: the table.
        indices: numbers of rows.
        offset: the number that stands for the first row of the table.
        first: the number of the first of these rows in the data set, for messages.
        num_bytes: about so many bytes these rows have.
    """

    base: SharedShard
    indices: Indices
    offset: int
    first: int
    num_bytes: int

    @property
    def label(self) -> str:
        """The rows as messages name them."""
        return f"{self.base.shard.label}, by indices {self.first}:{self.first + self.num_rows}"

    @property
    def sources(self) -> Sequence[str]:
        """The inputs that the rows of the table were made of, or the files that they are mapped from."""
        return self.base.shard.sources

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The mapped files whose content is not told by a receipt."""
        return self.base.shard.pieces

    @property
    def num_rows(self) -> int:
        """Rows."""
        return len(self.indices)

    @property
    def home(self) -> str:
        """The host that made all of the mapped files, if one did."""
        return self.base.shard.home

    @property
    def digest(self) -> str:
        """Rows of tables are taken as they are."""
        return combine("selection")

    def identity(self, hash_piece: Callable[[Piece], str | None]) -> str | None:
        """Content of the table, and which of its rows these are."""
        content = self.base.shard.identity(hash_piece)
        return None if content is None else combine("selection", content, self._digest)

    def hash_piece(self, piece: Piece) -> str:
        """Checksum of a mapped file."""
        return self.base.shard.hash_piece(piece)

    def read(
        self,
        on_bad_row: Callable[[str, BadRow], None] | None = None,  # noqa: ARG002 - rows of tables can be read
    ) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The rows, copied together batch by batch."""
        size = max(1, min(_BATCH_ROWS, _BATCH_BYTES * self.num_rows // max(1, self.num_bytes)))
        rows = self._rows
        for start in range(0, len(rows), size):
            for batch in self.base.shard.table.fast_gather(rows[start : start + size]).to_batches():
                yield self.label, batch

    @property
    def _rows(self) -> Positions:
        return self.indices.rows - self.offset if self.offset else self.indices.rows

    @cached_property
    def _digest(self) -> str:
        return hash_value(self._rows) if self.offset else self.indices.digest


def shards_of(
    table: Table, files: Mapping[str, KnownFile], indices: Indices | None = None, max_bytes: int = MAX_SHARD_BYTES
) -> tuple[InputShard, ...]:
    """Cut rows into shards.

    Args:
        table: the rows.
        files: what is known of the mapped files, by path.
        indices: which rows, and in which order; None is all of them as they are.
        max_bytes: size above which something is cut.

    Returns:
        One shard at least; none without rows, unless there are no rows at all.
    """
    if indices is None:
        return tuple(_shards_in_place(table, files, max_bytes)) or (_shard(table, files),)
    if not len(indices):
        return (_shard(table.slice(0, 0), files),)
    return tuple(_shards_by_indices(table, files, indices, max_bytes))


def joined(tables: Sequence[Table]) -> Table:
    """Tables below one another under one schema. One without rows says nothing of types, unless none has rows."""
    filled = [table for table in tables if table.num_rows] or list(tables)
    return concat_tables(filled) if filled else InMemoryTable(pa.table({}))


def size_of(table: Table) -> int:
    """About how many bytes the rows of a table take; no file is opened that is used as a whole."""
    return TableShard(table).num_bytes


def _shards_in_place(table: Table, files: Mapping[str, KnownFile], max_bytes: int) -> Iterator[TableShard]:
    for block in _row_blocks(table):
        if not block.num_rows:
            continue
        for start, stop in _cuts(block.num_rows, size_of(block), max_bytes):
            whole = stop - start == block.num_rows
            yield _shard(block if whole else block.slice(start, stop - start), files)


def _shards_by_indices(
    table: Table, files: Mapping[str, KnownFile], indices: Indices, max_bytes: int
) -> Iterator[InputShard]:
    row_bytes = size_of(table) / max(1, table.num_rows)
    whole = SharedShard(_shard(table, files))
    for start, stop in _cuts(len(indices), int(len(indices) * row_bytes), max_bytes):
        part = indices.slice(start, stop)
        if not list_table_cache_files(table):
            # Rows in memory travel as they are: only those that are asked for.
            yield TableShard(InMemoryTable(table.fast_gather(part.rows)))
            continue
        low, high = int(part.rows.min()), int(part.rows.max()) + 1
        if high - low > (1 - _NARROW) * table.num_rows:
            base, offset = whole, 0
        else:
            base, offset = SharedShard(_shard(table.slice(low, high - low), files)), low
        yield SelectedShard(base, part, offset, start, int((stop - start) * row_bytes))


def _row_blocks(table: Table) -> Iterator[Table]:
    if not isinstance(table, ConcatenationTable):
        yield table
        return
    for row_block in table.blocks:
        yield row_block[0] if len(row_block) == 1 else ConcatenationTable([row_block])


def _shard(table: Table, files: Mapping[str, KnownFile]) -> TableShard:
    known = [(path, files[path]) for path in list_table_cache_files(table) if path in files]
    contents = tuple((path, file.checksum) for path, file in known if file.checksum is not None)
    homes = {file.home for _, file in known}
    made_of = tuple(source for _, file in known for source in file.made_of)
    return TableShard(table, contents, made_of, homes.pop() if len(homes) == 1 else "")


def _cuts(num_rows: int, num_bytes: int, max_bytes: int) -> Iterator[tuple[int, int]]:
    """Runs of rows of about equal length, where it can be of whole record batches as our files have them."""
    parts = max(1, -(-num_bytes // max_bytes))
    length = -(-num_rows // parts)
    if length > _BATCH_ROWS:
        length = -(-length // _BATCH_ROWS) * _BATCH_ROWS
    for start in range(0, num_rows, max(1, length)):
        yield start, min(start + length, num_rows)
