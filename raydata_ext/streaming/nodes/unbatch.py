"""Rows of lists taken apart: one row for each element."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from typing_extensions import override

from raydata_ext.errors import SchemaError
from raydata_ext.streaming.nodes.base import Bases, StatelessCursor, Wrapper
from raydata_ext.streaming.nodes.gather import open_rows


@dataclass(frozen=True, eq=False)
class Unbatch(Wrapper):
    """One row for each element of the lists that a row holds; the lists of a row must be of one length."""

    @property
    @override
    def schema(self) -> pa.Schema | None:
        schema = self.child.schema
        if schema is None or not all(_is_list(field.type) for field in schema):
            return None
        return pa.schema([field.with_type(field.type.value_type) for field in schema])

    @override
    def open(self, bases: Bases | None) -> UnbatchCursor:
        return UnbatchCursor(open_rows(self.child, None))


class UnbatchCursor(StatelessCursor):
    """A pass that takes rows apart: what it reads are record batches of lists."""

    @override
    def next(self) -> pa.RecordBatch | None:
        batch = self._input.next()
        return None if batch is None else _taken_apart(batch)


def _taken_apart(batch: pa.RecordBatch) -> pa.RecordBatch:
    lengths = None
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if not _is_list(field.type):
            raise SchemaError(f"unbatch: column {field.name!r} is {field.type}, no list; leave it out before")
        own = pc.fill_null(pc.list_value_length(column), 0).cast(pa.int64())
        if lengths is not None and not own.equals(lengths):
            raise SchemaError(f"unbatch: the lists in {batch.schema.names} differ in length within a row")
        lengths = own
    columns = [pc.list_flatten(column) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))
