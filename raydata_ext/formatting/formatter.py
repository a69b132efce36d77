"""The contract of all output formats: Arrow data as a row, a batch or a column of what users hold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from raydata_ext.formatting.to_python import array_to_list

if TYPE_CHECKING:
    from collections.abc import Sequence


class Formatter(ABC):
    """Turns Arrow data into one format.

    Args:
        columns: The columns to show, in this order; None for all of them.
        output_all_columns: Also show the other columns, after those, as plain Python values.
    """

    def __init__(self, columns: Sequence[str] | None = None, *, output_all_columns: bool = False) -> None:
        self.columns = None if columns is None else tuple(columns)
        self.output_all_columns = output_all_columns

    @abstractmethod
    def row(self, batch: pa.RecordBatch | pa.Table, index: int) -> Any:
        """One row.

        Args:
            batch: Arrow data.
            index: Row, 0 <= index < num_rows.

        Raises:
            IndexError: There is no such row.
            ValueError: A column of the format is not in the data.
        """

    def rows(self, data: pa.RecordBatch | pa.Table) -> list[Any]:
        """All rows, one by one.

        Args:
            data: Arrow data.
        """
        return [self.row(data, index) for index in range(data.num_rows)]

    @abstractmethod
    def batch(self, data: pa.RecordBatch | pa.Table) -> Any:
        """All rows.

        Args:
            data: Arrow data.

        Raises:
            ValueError: A column of the format is not in the data.
        """

    @abstractmethod
    def column(self, array: pa.Array | pa.ChunkedArray) -> Any:
        """One column.

        Args:
            array: Its values.
        """

    def _formatted_names(self, schema: pa.Schema) -> Sequence[str]:
        if self.columns is None:
            return schema.names  # type: ignore[no-any-return]  # pyarrow has no stubs
        missing = [name for name in self.columns if name not in schema.names]
        if missing:
            raise ValueError(f"columns {missing} of the format are not in the data, which has {schema.names}")
        return self.columns

    def _other_names(self, schema: pa.Schema) -> Sequence[str]:
        if self.columns is None or not self.output_all_columns:
            return ()
        return [name for name in schema.names if name not in self.columns]


class MappingFormatter(Formatter):
    """A format whose rows and batches are dictionaries from column name to value or values."""

    def row(self, batch: pa.RecordBatch | pa.Table, index: int) -> dict[str, Any]:
        """One row as a dictionary; see `Formatter.row`."""
        check_row(batch, index)
        row = {name: self.value(batch.column(name), index) for name in self._formatted_names(batch.schema)}
        for name in self._other_names(batch.schema):
            row[name] = python_value(batch.column(name), index)
        return row

    def batch(self, data: pa.RecordBatch | pa.Table) -> dict[str, Any]:
        """All rows as a dictionary of columns; see `Formatter.batch`."""
        columns = {name: self.column(data.column(name)) for name in self._formatted_names(data.schema)}
        for name in self._other_names(data.schema):
            columns[name] = array_to_list(data.column(name))
        return columns

    @abstractmethod
    def value(self, array: pa.Array | pa.ChunkedArray, index: int) -> Any:
        """The value of one row of a column; null is `None`."""


def python_value(array: pa.Array | pa.ChunkedArray, index: int) -> Any:
    """The Python value of one element of an array; null is `None`."""
    if pa.types.is_nested(array.type):
        return array_to_list(array.slice(index, 1))[0]
    return array[index].as_py()


def check_row(data: pa.RecordBatch | pa.Table, index: int) -> None:
    """Raise `IndexError` unless 0 <= index < num_rows."""
    if not 0 <= index < data.num_rows:
        raise IndexError(f"row {index} of {data.num_rows} rows")
