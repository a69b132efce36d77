"""A run of rows of a table as a shard: what a plan over a data set starts from."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from raydata_ext.fingerprint import combine, hash_value
from raydata_ext.redaction import readable
from raydata_ext.sources import InputFile, Piece, label_of
from raydata_ext.table import MemoryMappedTable, Table
from raydata_ext.table.concatenation import blocks_of
from raydata_ext.table.verify import checksum_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from raydata_ext.sources import BadRow
    from raydata_ext.store import Receipt, Store
    from raydata_ext.table.operations import OperationState


_OF_PLAIN_VALUES = frozenset({"rename_columns", "select", "replace_schema_metadata"})
"""Operations whose arguments are equal only where they are the same, which schemas, for one, are not."""


@dataclass(frozen=True, eq=False)
class TableShard:
    """Rows of a table; it travels as the table does: a mapped one as path, or place to copy from, and replays.

    Attributes:
        table: the rows.
        contents: checksums of mapped files by path, as far as receipts or manifests tell them.
        made_of: the inputs that the rows were made of, where that is known from receipts.
        home: the host that made the mapped files, and so is likely to have them or copies of them; empty where that is
            not known, or several did.
    """

    table: Table
    contents: tuple[tuple[str, str], ...] = ()
    made_of: tuple[str, ...] = ()
    home: str = ""

    @classmethod
    def of_receipt(cls, store: Store, receipt: Receipt) -> TableShard:
        """A cached result as the input of what follows."""
        table = store.table(receipt)  # of a remote result a recipe: each node that reads it makes its own copy
        made_of = tuple(str(source["path"]) for source in receipt.inputs)
        return cls(table, ((table.path, receipt.checksum),), made_of, receipt.host)

    @property
    def label(self) -> str:
        """What the rows were made of, or what lies in memory."""
        return label_of(self.sources) or f"table of {self.table.num_rows} rows in memory"

    @property
    def sources(self) -> tuple[str, ...]:
        """The inputs that the rows were made of, or the files that they are mapped from."""
        mapped = (readable(table.path) for table in blocks_of(self.table) if isinstance(table, MemoryMappedTable))
        return self.made_of or tuple(mapped)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The mapped files whose content is not told by a receipt."""
        known = dict(self.contents)
        tables = [table for table in blocks_of(self.table) if isinstance(table, MemoryMappedTable)]
        return tuple(_piece(table.path) for table in tables if table.path not in known)

    @property
    def num_bytes(self) -> int:
        """Bytes of the mapped files and of the rows in memory; of a file that is used in part, its share by rows."""
        return sum(
            table.file_bytes * table.num_rows // max(1, table.file_rows)
            if isinstance(table, MemoryMappedTable)
            else table.nbytes
            for table in blocks_of(self.table)
        )

    @property
    def num_rows(self) -> int:
        """Rows."""
        return int(self.table.num_rows)

    @property
    def digest(self) -> str:
        """Rows of tables are taken as they are."""
        return combine("table")

    def identity(self, hash_piece: Callable[[Piece], str | None]) -> str | None:
        """Contents of the mapped files and what was done to them since; rows in memory by value."""
        known = dict(self.contents)
        parts: list[str] = []
        for table in blocks_of(self.table):
            if not isinstance(table, MemoryMappedTable):
                parts.append(hash_value(table.table))
                continue
            content = known.get(table.path) or hash_piece(_piece(table.path))
            if content is None:
                return None
            parts += [content, _digest_of(table.replays)]
        return combine("tables", *parts)

    def hash_piece(self, piece: Piece) -> str:
        """Checksum of a mapped file."""
        return checksum_file(piece.file.path)

    def read(
        self,
        on_bad_row: Callable[[str, BadRow], None] | None = None,  # noqa: ARG002 - rows of a table can all be read
    ) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The record batches of the table; one without rows where it has none, for its schema."""
        label = self.label
        if not self.table.num_rows:
            yield label, pa.RecordBatch.from_pylist([], self.table.schema)
        for batch in self.table.iter_batches():
            yield label, batch


def _digest_of(replays: list[OperationState]) -> str:
    if all(name in _OF_PLAIN_VALUES for name, _ in replays):
        return _digest_of_plain(tuple(replays))
    return hash_value(replays)


@functools.lru_cache(maxsize=16)
def _digest_of_plain(replays: tuple[OperationState, ...]) -> str:
    """Thousands of files of one data set mostly have the same operations behind them."""
    return hash_value(list(replays))


def _piece(path: str) -> Piece:
    stat = os.stat(path)  # noqa: PTH116 - for thousands of files a Path costs more than the call
    name = path.rpartition("/")[2]
    return Piece(InputFile(path, name, stat.st_size, f"{stat.st_mtime_ns}:{stat.st_ino}"))
