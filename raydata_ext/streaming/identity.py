"""What the rows of tables are, told cheaply, so that a state can be bound to them."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from raydata_ext.fingerprint import combine, hash_value
from raydata_ext.table import MemoryMappedTable, Table
from raydata_ext.table.concatenation import blocks_of

if TYPE_CHECKING:
    from collections.abc import Mapping


class TableIdentity:
    """What the rows of a table are, found when it is first asked for; no file is read for it.

    Args:
        table: the rows. Those in memory count by value.
        contents: checksums of mapped files by path, as far as they are known; others count by name and size.
        known: the hash, where there is one already.
    """

    def __init__(self, table: Table, contents: Mapping[str, str], known: str | None = None) -> None:
        self._table = table
        self._contents = contents
        self._known = known

    @cached_property
    def digest(self) -> str:
        """The hash."""
        if self._known is not None:
            return self._known
        parts = (part for block in blocks_of(self._table) for part in _identity(block, self._contents))
        return combine("table", self._table.num_rows, *parts)


def _identity(table: Table, contents: Mapping[str, str]) -> tuple[str | int, ...]:
    if not isinstance(table, MemoryMappedTable):
        return (hash_value(table.table),)
    content = contents.get(table.path) or f"{Path(table.path).name}:{table.file_bytes}"
    return content, table.num_rows, hash_value(table.replays)
