"""Rows and batches as plain Python values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raydata_ext.formatting.formatter import MappingFormatter, python_value
from raydata_ext.formatting.to_python import array_to_list

if TYPE_CHECKING:
    import pyarrow as pa


class PythonFormatter(MappingFormatter):
    """Rows are dictionaries of Python values, batches dictionaries of lists."""

    def value(self, array: pa.Array | pa.ChunkedArray, index: int) -> Any:
        """The value of one row of a column."""
        return python_value(array, index)

    def column(self, array: pa.Array | pa.ChunkedArray) -> list[Any]:
        """A column as a list."""
        return array_to_list(array)
