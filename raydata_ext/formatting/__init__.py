"""The edge where Arrow becomes what users hold, and back.

Out: `get_formatter` gives rows, batches and columns as Python, numpy, torch, pandas or Arrow, or as a function of the
user makes them. User functions of `map` get a `LazyRow` or `LazyBatch`, dictionaries that convert only the columns that
are looked at and know what was changed.

In: `batch_from_columns`, `batch_from_rows` and `batch_from_table` turn what such functions return into record batches,
with types inferred once per batch.
"""

from raydata_ext.formatting.formats import Format, get_formatter
from raydata_ext.formatting.formatter import Formatter
from raydata_ext.formatting.from_values import array_from_values
from raydata_ext.formatting.lazy_batch import LazyBatch
from raydata_ext.formatting.lazy_row import LazyRow, RowCursor
from raydata_ext.formatting.record_batch import (
    arrays_from_columns,
    batch_from_columns,
    batch_from_rows,
    batch_from_table,
    columns_of_frame,
    is_data_frame,
    is_table,
)
from raydata_ext.formatting.to_python import array_to_list

__all__ = [
    "Format",
    "Formatter",
    "LazyBatch",
    "LazyRow",
    "RowCursor",
    "array_from_values",
    "array_to_list",
    "arrays_from_columns",
    "batch_from_columns",
    "batch_from_rows",
    "batch_from_table",
    "columns_of_frame",
    "get_formatter",
    "is_data_frame",
    "is_table",
]
