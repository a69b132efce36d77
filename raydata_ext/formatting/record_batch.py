"""What user functions return, as record batches: columns, rows, or whole tables."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from raydata_ext.errors import SchemaError
from raydata_ext.formatting.from_values import array_from_values
from raydata_ext.formatting.large_offsets import one_array
from raydata_ext.table.layouts import MAX_OFFSET

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def arrays_from_columns(
    columns: Mapping[str, object],
    *,
    num_rows: int | None = None,
    hints: pa.Schema | None = None,
    max_offset: int = MAX_OFFSET,
) -> dict[str, pa.Array]:
    """Columns as a batched function returned them, as Arrow arrays of one length.

    Args:
        columns: Name -> list, tuple, numpy array (further dimensions become lists), torch tensor, pandas Series, Arrow
            array or chunked array.
        num_rows: Rows that each column must have; needed where there may be no column.
        hints: Types that columns had before, each taken only if no value changes by that.
        max_offset: Lists built from numpy arrays whose offsets pass this are `large_list`.

    Returns:
        Name -> array, in the order of the mapping.

    Raises:
        TypeError: A value of the mapping is not a column, or a name is not a string.
        SchemaError: Columns differ in length (names all lengths), or a value does not fit (names column, row, value).
    """
    arrays = {
        _checked_name(name): array_from_values(values, name=name, hint=_hint(hints, name), max_offset=max_offset)
        for name, values in columns.items()
    }
    _check_lengths(arrays, num_rows)
    return arrays


def batch_from_columns(
    columns: Mapping[str, object],
    *,
    num_rows: int | None = None,
    hints: pa.Schema | None = None,
    max_offset: int = MAX_OFFSET,
) -> pa.RecordBatch:
    """A record batch of such columns, in the order of the mapping; see `arrays_from_columns`."""
    arrays = arrays_from_columns(columns, num_rows=num_rows, hints=hints, max_offset=max_offset)
    if not arrays:
        return empty_columns(num_rows or 0)
    return pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))


def batch_from_rows(
    rows: Sequence[Mapping[str, object] | None], hints: pa.Schema | None = None, *, max_offset: int = MAX_OFFSET
) -> pa.RecordBatch:
    """A record batch of rows as a row function returned them.

    Args:
        rows: One mapping per row. The columns are the union of all keys in first-seen order; what a row lacks is null,
            and so is the whole row where it is None.
        hints: Types that columns had before, each taken only if no value changes by that.
        max_offset: Lists built from numpy arrays whose offsets pass this are `large_list`.

    Returns:
        The batch of `len(rows)` rows.

    Raises:
        TypeError: A key is not a string.
        SchemaError: A value does not fit its column; names column, row and value.
    """
    names: dict[str, None] = {}
    for row in rows:
        if row is not None and row.keys() != names.keys():
            names.update(dict.fromkeys(row))
    columns = {name: [None if row is None else row.get(name) for row in rows] for name in names}
    return batch_from_columns(columns, num_rows=len(rows), hints=hints, max_offset=max_offset)


def is_table(value: object) -> bool:
    """Whether `batch_from_table` takes this value: an Arrow table or batch, a pandas or polars DataFrame."""
    return isinstance(value, (pa.Table, pa.RecordBatch)) or is_data_frame(value) or _is_arrow_stream(value)


def is_data_frame(value: object) -> bool:
    """Whether this is a pandas DataFrame; pandas is not imported for the question."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def batch_from_table(table: object) -> pa.RecordBatch:
    """A record batch of a whole table that a function returned.

    Args:
        table: `pa.RecordBatch`, `pa.Table`, `pandas.DataFrame` (its index is dropped; NaN in a column of objects and
            pandas' NA are null), or any frame with Arrow's C stream interface, such as a polars DataFrame.

    Returns:
        One batch; columns beyond the reach of 32-bit offsets are of the large types. Schema metadata is dropped.

    Raises:
        TypeError: `table` is none of these, or the name of a column is not a string, or that of two.
        SchemaError: A column of a DataFrame holds values that do not go together.
    """
    if is_data_frame(table):
        return batch_from_columns(columns_of_frame(table), num_rows=len(cast("Any", table)))
    if isinstance(table, pa.RecordBatch):
        _require_distinct(table.schema.names)
        return table
    if not is_table(table):
        raise TypeError(f"expected an Arrow table, record batch or DataFrame, not {type(table).__name__}")
    whole = table if isinstance(table, pa.Table) else pa.table(table)
    _require_distinct(whole.column_names)
    if not whole.num_columns:
        return empty_columns(whole.num_rows)
    return pa.RecordBatch.from_arrays([one_array(column) for column in whole.columns], names=whole.column_names)


def columns_of_frame(frame: Any) -> dict[str, Any]:
    """The series of a pandas DataFrame by name.

    Raises:
        TypeError: Two columns have one name.
    """
    _require_distinct([*frame.columns])
    return dict(frame.items())


def empty_columns(num_rows: int) -> pa.RecordBatch:
    """A record batch of so many rows and no column."""
    return pa.RecordBatch.from_struct_array(pa.array([{}] * num_rows, pa.struct([])))


def _require_distinct(names: Sequence[object]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TypeError(f"two columns of the table have the name {twice!r}; give each a name of its own")


def _checked_name(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"column names must be strings, not {name!r} ({type(name).__name__})")
    return name


def _hint(hints: pa.Schema | None, name: str) -> pa.DataType | None:
    if hints is None:
        return None
    position = hints.get_field_index(name)
    return None if position < 0 else hints.field(position).type


def _check_lengths(arrays: Mapping[str, pa.Array], num_rows: int | None) -> None:
    lengths = {name: len(array) for name, array in arrays.items()}
    expected = set(lengths.values()) | (set() if num_rows is None else {num_rows})
    if len(expected) > 1:
        listed = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
        wanted = "" if num_rows is None else f", {num_rows} expected"
        raise SchemaError(f"columns of unequal length: {listed} rows{wanted}; return one value a row in each of them")


def _is_arrow_stream(value: object) -> bool:
    return hasattr(value, "__arrow_c_stream__") and not isinstance(value, pa.ChunkedArray)
