"""One row of a record batch as a dictionary that converts a column only when its key is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from raydata_ext.formatting.column_cache import ColumnCache
from raydata_ext.formatting.in_place import is_unchanged
from raydata_ext.formatting.lazy_mapping import LazyMapping
from raydata_ext.table import take_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa


class LazyRow(LazyMapping):
    """A row as user functions get it.

    Args:
        batch: The record batch.
        index: Row of the batch, 0 <= index < num_rows.
        columns: The columns of `batch` that are converted already, shared with its other rows; None to convert just the
            values of this row. For all rows of a batch take a `RowCursor`.

    Raises:
        IndexError: There is no such row.
    """

    __slots__ = ("_index",)

    def __init__(self, batch: pa.RecordBatch, index: int, *, columns: ColumnCache | None = None) -> None:
        if not 0 <= index < batch.num_rows:
            raise IndexError(f"row {index} of a record batch of {batch.num_rows} rows")
        if columns is None:
            columns = ColumnCache(batch.slice(index, 1), hand_out_lists=False)
            index = 0
        super().__init__(columns)
        self._index = index

    def _original(self, key: str) -> Any:
        return self._columns[key][self._index]

    def _changed_in_place(self, name: str) -> bool:
        return not is_unchanged(self._columns[name][self._index], self._columns.snapshots[name][self._index])

    def _without_changes(self) -> LazyRow:
        return LazyRow(self._columns.batch, self._index, columns=self._columns)


class RowCursor:
    """All rows of a record batch as lazy rows, over columns that are converted whole, once, when first touched.

    Values that a row hands out are shared with no other row, but a second `LazyRow` of the same index gives the same
    objects: take a new cursor to see the batch as it was before a function changed a list in place.

    Args:
        batch: The record batch.
    """

    def __init__(self, batch: pa.RecordBatch) -> None:
        self.batch = batch
        self._columns = ColumnCache(batch, hand_out_lists=False)

    @property
    def touched(self) -> frozenset[str]:
        """Columns that some row has converted to Python."""
        return frozenset(self._columns)

    def row(self, index: int) -> LazyRow:
        """Row `index` of the batch, 0 <= index < num_rows."""
        return LazyRow(self.batch, index, columns=self._columns)

    def values(self, name: str) -> list[Any]:
        """All values of a column, as the rows hand them out."""
        return self._columns[name]

    def take(self, positions: Sequence[int]) -> RowCursor:
        """A cursor over some of the rows, with the very values that were handed out for them."""
        taken = RowCursor(take_rows(self.batch, np.array(positions, np.int64)))
        for name, values in self._columns.items():
            taken._columns[name] = [values[position] for position in positions]
        for name, values in self._columns.snapshots.items():
            taken._columns.snapshots[name] = [values[position] for position in positions]
        return taken

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    def __iter__(self) -> Iterator[LazyRow]:
        batch, columns = self.batch, self._columns
        return (LazyRow(batch, index, columns=columns) for index in range(batch.num_rows))
