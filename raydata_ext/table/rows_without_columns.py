"""Tables of no columns, which still have rows: pyarrow keeps count of them in some operations and forgets in others."""

from __future__ import annotations

import pyarrow as pa


def rows_without_columns(num_rows: int, metadata: dict[bytes, bytes] | None = None) -> pa.Table:
    """Return a table of so many rows and no columns.

    Args:
        num_rows: how many rows.
        metadata: the metadata of its schema.
    """
    column = pa.table({"": pa.nulls(num_rows)}, metadata=metadata)
    return column.select([])
