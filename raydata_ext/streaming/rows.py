"""Rows on their way through a stream: references to rows of tables, or record batches of rows.

Nodes that choose and order rows work on either with the functions of this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from raydata_ext.errors import SchemaError
from raydata_ext.formatting import batch_from_table
from raydata_ext.streaming.order import round_robin
from raydata_ext.table import InMemoryTable, cast_batch, unify_schemas

if TYPE_CHECKING:
    from collections.abc import Sequence

References: TypeAlias = NDArray[np.int64]
"""Numbers of rows of a table; shape (n,)."""

Rows: TypeAlias = Any
"""`References`, or a `pa.RecordBatch`, which has no type to a type checker."""

BATCH_ROWS = 1000
"""Rows of a record batch, where a stream may choose."""

PIECE_ROWS = 8 * BATCH_ROWS
"""References that are handed on at a time."""

COPIED_BYTES = 2 << 20
"""Rows are copied from all over the tables so many bytes at a time, about: enough that the calls cost little, and few
enough that who reads them finds them in the cache of the processor."""


def count_rows(rows: Rows) -> int:
    """How many rows these are."""
    return len(rows)  # of a record batch, too, these are its rows


def cut(rows: Rows, start: int, stop: int) -> Rows:
    """Rows [start, stop), zero-copy."""
    return rows[start:stop] if isinstance(rows, np.ndarray) else rows.slice(start, stop - start)


def join(pieces: Sequence[Rows]) -> Rows:
    """All rows, one piece after the other.

    Args:
        pieces: one at least, all of one kind.

    Raises:
        SchemaError: the columns of record batches are of types that do not go together.
    """
    if len(pieces) == 1:
        return pieces[0]
    if isinstance(pieces[0], np.ndarray):
        return np.concatenate(pieces)
    return batch_of_table(table_of_batches(pieces))


def pick(pieces: Sequence[Rows], positions: References) -> Rows:
    """Rows in the order of their positions in the joined pieces.

    Args:
        pieces: one at least, all of one kind.
        positions: shape (n,).

    Raises:
        SchemaError: the columns of record batches are of types that do not go together.
    """
    if isinstance(pieces[0], np.ndarray):
        joined: References = np.concatenate(pieces)
        return joined[positions]
    table = table_of_batches(pieces)
    if not len(positions):
        return batch_of_table(table.slice(0, 0))
    return batch_of_table(InMemoryTable(table).fast_gather(positions))


def in_turn(pieces: Sequence[Rows]) -> Rows:
    """One row of each piece in turn, until all are used up.

    Args:
        pieces: one at least, all of one kind and of equally many rows.

    Raises:
        SchemaError: the columns of record batches are of types that do not go together.
    """
    if isinstance(pieces[0], np.ndarray):
        return np.stack(pieces, axis=1).reshape(-1)
    return pick(pieces, round_robin(len(pieces), count_rows(pieces[0])))


def widened(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Rows under the schema of the streams that they are among, so that each row has the columns of all.

    Columns that are not in the schema follow.

    Raises:
        SchemaError: columns are of types that do not go together.
    """
    if batch.schema.equals(schema):
        return batch
    return cast_batch(batch, unify_schemas([schema, batch.schema]), add_missing=True)


def table_of_batches(batches: Sequence[pa.RecordBatch]) -> pa.Table:
    """Record batches as one table under one schema, zero-copy where they agree.

    Raises:
        SchemaError: columns are of types that do not go together.
    """
    schema = batches[0].schema
    if all(batch.schema.equals(schema) for batch in batches):
        return pa.Table.from_batches(batches, schema)
    try:
        schema = unify_schemas(batch.schema for batch in batches)
        return pa.Table.from_batches([cast_batch(batch, schema, add_missing=True) for batch in batches], schema)
    except SchemaError as error:
        raise SchemaError(
            f"rows that stand next to one another in a stream differ: {error}; cast the sources to one schema"
        ) from error


def batch_of_table(table: pa.Table) -> pa.RecordBatch:
    """A table as one record batch, zero-copy where it is one."""
    batches = table.to_batches()
    if len(batches) == 1:
        return batches[0]
    return batch_from_table(table).replace_schema_metadata(table.schema.metadata)
