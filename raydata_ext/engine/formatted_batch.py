"""A batch as numpy arrays or torch tensors, each column converted when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from raydata_ext.formatting import LazyBatch
from raydata_ext.formatting.column_cache import ColumnCache

if TYPE_CHECKING:
    import pyarrow as pa

    from raydata_ext.formatting import Formatter


class FormattedBatch(LazyBatch):
    """What `LazyBatch` is for lists: column name -> the values of all rows in a format of arrays.

    Args:
        batch: the record batch.
        formatter: makes a column of the format.
        columns: its columns that are converted already; None to start with none.
    """

    __slots__ = ("_formatter",)

    def __init__(self, batch: pa.RecordBatch, formatter: Formatter, *, columns: _FormattedColumns | None = None) -> None:
        self._formatter = formatter
        super().__init__(batch, columns=_FormattedColumns(batch, formatter) if columns is None else columns)
