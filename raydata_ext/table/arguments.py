"""What users may pass to the operations of a table, brought to the one form that the operations take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow.compute as pc


def column_position(schema: pa.Schema, column: str | int) -> int:
    """Return the position of a column.

    Args:
        schema: the schema that has the column.
        column: its name; or its position, counted from the end if negative.

    Raises:
        KeyError: the name is not that of exactly one column.
        IndexError: there is no column at the position.
    """
    if isinstance(column, str):
        found: list[int] = schema.get_all_field_indices(column)
        if len(found) != 1:
            raise KeyError(f"{len(found) or 'no'} columns are named {column!r}; the columns are {schema.names}")
        return found[0]
    if not -len(schema) <= column < len(schema):
        raise IndexError(f"no column {column} in a table of {len(schema)} columns")
    return int(column) % len(schema)


def new_names(schema: pa.Schema, names: Sequence[str] | Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of all columns after a renaming.

    Args:
        schema: the schema before.
        names: the new names of all columns; or a mapping from old names to new ones.

    Raises:
        KeyError: an old name is not that of exactly one column.
        ValueError: there are not as many names as columns.
    """
    if isinstance(names, dict):
        renamed = list(schema.names)
        for old, new in names.items():
            renamed[column_position(schema, old)] = new
        return tuple(renamed)
    if len(names) != len(schema):
        raise ValueError(f"{len(names)} names do not fit a table of {len(schema)} columns")
    return tuple(names)


def new_column(field: str | pa.Field, values: Any, num_rows: int) -> tuple[pa.Field, pa.ChunkedArray]:
    """Return field and values of a new column.

    Args:
        field: its field; or its name, and the type is that of the values.
        values: an Arrow array or chunked array, a list of arrays, or anything that pyarrow makes an array of.
        num_rows: how many there must be.

    Raises:
        TypeError: the values are not of the type of the field.
        ValueError: there are more or fewer.
    """
    if isinstance(values, pa.ChunkedArray):
        column = values
    elif isinstance(values, list) and values and all(isinstance(item, pa.Array) for item in values):
        column = pa.chunked_array(values)
    elif isinstance(values, pa.Array):
        column = pa.chunked_array([values])
    else:
        column = pa.chunked_array([pa.array(values, None if isinstance(field, str) else field.type)])
    field = pa.field(field, column.type) if isinstance(field, str) else field
    if not column.type.equals(field.type):
        raise TypeError(f"column {field.name!r} is to be {field.type}, but its values are {column.type}")
    if len(column) != num_rows:
        raise ValueError(f"a column {field.name!r} of {len(column)} values does not fit a table of {num_rows} rows")
    return field, column


def row_mask(mask: Any, num_rows: int) -> pa.BooleanArray:
    """Return a mask of rows as one Arrow array.

    Args:
        mask: booleans as an Arrow array or chunked array, a NumPy array or a list.
        num_rows: how many there must be.

    Raises:
        ValueError: there are more or fewer.
    """
    array = mask.combine_chunks() if isinstance(mask, pa.ChunkedArray) else mask
    array = array if isinstance(array, pa.BooleanArray) else pa.array(array, pa.bool_())
    if len(array) != num_rows:
        raise ValueError(f"a mask of {len(array)} values does not fit a table of {num_rows} rows")
    return array


def rows_where(table: pa.Table, expression: pc.Expression) -> pa.BooleanArray:
    """Return the mask of the rows of a table for which an expression over its columns is true."""
    name = "\0row"  # a name that no column has
    numbered = table.append_column(name, pa.array(np.arange(table.num_rows)))
    mask = np.zeros(table.num_rows, bool)
    mask[numbered.filter(expression).column(name).to_numpy()] = True
    return pa.array(mask)
