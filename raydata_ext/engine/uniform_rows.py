"""The rows of a shard under one schema, so that no step sees where the blocks of a reader, or its files, end.

Some readers, that of JSON lines for one, tell columns and types block by block. The schema of the first block is taken
on trust. Where a later one has another column or a wider type, the pass is given up, all rows are read once for their
columns, and the pass begins again with these: a column that a block lacks is null in it. So only shards that need it
are read twice, and those on which a step fails, since it may have missed a column. A column whose types do not go
together stays as each block has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from raydata_ext.errors import SchemaError
from raydata_ext.plan import Cast
from raydata_ext.table.cast import cast_array
from raydata_ext.table.unify import unify_types

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from raydata_ext.plan import Step

    Columns: TypeAlias = Mapping[str, pa.DataType | None]
    """Types by column, in order; None where types do not go together."""


class ColumnsGrewError(Exception):
    """A block has columns or types that those before it did not have; the pass is to begin again."""


def see_columns(steps: Sequence[Step]) -> bool:
    """Whether steps can tell which columns their rows have. A cast at the begin makes them the same for all."""
    return bool(steps) and not isinstance(steps[0], Cast)


def columns_of(batches: Iterable[tuple[str, pa.RecordBatch]]) -> Columns:
    """The columns of all rows.

    Args:
        batches: (label of the piece that the rows come from, rows).
    """
    columns: Columns = {}
    last: pa.Schema | None = None
    for _, batch in batches:
        if batch.num_rows and (last is None or not batch.schema.equals(last)):
            last = batch.schema
            columns = _widened(columns, last)
    return columns


class UniformRows:
    """Record batches with all columns, in one order and with one type each.

    Iterating raises `ColumnsGrewError` where the columns that were taken on trust are not all; and `SchemaError` where
    a value does not fit the type of all, such as an integer above 2**53 in a column of doubles.

    Args:
        batches: (label of the piece that the rows come from, rows). Those of no rows pass as they are.
        columns: of all rows, as `columns_of` finds them; None takes those of the first batch on trust.

    Attributes:
        columns: those that batches are given.
    """

    def __init__(self, batches: Iterable[tuple[str, pa.RecordBatch]], columns: Columns | None = None) -> None:
        self.columns = columns
        self._batches = batches

    def __iter__(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        last: pa.Schema | None = None
        fits = False
        for label, batch in self._batches:
            if not batch.num_rows:
                yield label, batch
                continue
            if last is None or not batch.schema.equals(last):
                last = batch.schema
                self._meet(last)
                fits = _fits(last, self.columns or {})
            yield label, batch if fits else _with_columns(batch, self.columns or {})

    def _meet(self, schema: pa.Schema) -> None:
        wide = _widened(self.columns or {}, schema)
        if self.columns is not None and wide != self.columns:
            raise ColumnsGrewError
        self.columns = wide


def _widened(columns: Columns, schema: pa.Schema) -> Columns:
    wide = dict(columns)
    for name, kind in zip(schema.names, schema.types, strict=True):
        known = wide.setdefault(name, kind)
        if known is not None and known != kind:
            try:
                wide[name] = unify_types((known, kind), name)
            except SchemaError:
                wide[name] = None
    return wide


def _fits(schema: pa.Schema, columns: Columns) -> bool:
    """Whether batches of the schema have the columns already."""
    return schema.names == list(columns) and all(
        kind is None or kind == own for kind, own in zip(columns.values(), schema.types, strict=True)
    )


def _with_columns(batch: pa.RecordBatch, columns: Columns) -> pa.RecordBatch:
    own = batch.schema
    fields, arrays = [], []
    for name, kind in columns.items():
        position = own.get_field_index(name)
        if position < 0:
            fields.append(pa.field(name, kind or pa.null()))
            arrays.append(pa.nulls(batch.num_rows, kind or pa.null()))
        else:
            array = batch.column(position)
            arrays.append(array if kind is None else cast_array(array, kind, name))
            fields.append(own.field(position).with_type(arrays[-1].type))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields, metadata=own.metadata))
