"""A record batch as a dictionary of Python lists that converts a column only when its key is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raydata_ext.formatting.column_cache import ColumnCache
from raydata_ext.formatting.in_place import is_unchanged
from raydata_ext.formatting.lazy_mapping import LazyMapping

if TYPE_CHECKING:
    import pyarrow as pa


class LazyBatch(LazyMapping):
    """A batch as user functions get it: column name -> list of the values of all its rows.

    Args:
        batch: The record batch.
        columns: Its columns that are converted already; None to start with none.

    Attributes:
        num_rows: Rows of the record batch, whatever was set since.
    """

    __slots__ = ("num_rows",)

    def __init__(self, batch: pa.RecordBatch, *, columns: ColumnCache | None = None) -> None:
        super().__init__(ColumnCache(batch, hand_out_lists=True) if columns is None else columns)
        self.num_rows = int(batch.num_rows)

    def _original(self, key: str) -> Any:
        return self._columns[key]

    def _changed_in_place(self, name: str) -> bool:
        return not is_unchanged(self._columns[name], self._columns.snapshots[name])

    def _without_changes(self) -> LazyBatch:
        return LazyBatch(self._columns.batch, columns=self._columns)
