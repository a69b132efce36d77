"""The operators of the steps that touch columns and leave rows alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from raydata_ext.engine.chunk import Chunk
from raydata_ext.engine.step_operator import Operator
from raydata_ext.errors import PlanError
from raydata_ext.table.cast import cast_batch

if TYPE_CHECKING:
    from collections.abc import Collection

    from raydata_ext.engine.trail import Trail
    from raydata_ext.plan import Cast, RemoveColumns, RenameColumns, RowNumbers, SelectColumns


class _ColumnsOperator(Operator):
    """What selecting and removing share: columns that rows must have, where there are rows."""

    def __init__(self, label: str, step: SelectColumns | RemoveColumns, trail: Trail) -> None:
        super().__init__(label, trail)
        self._columns = step.columns

    def apply(self, chunk: Chunk) -> Chunk:
        """As with no rows, once all columns are there; see `Operator.apply`."""
        self.require_columns(chunk, self._columns)
        return self.apply_empty(chunk)


class SelectOperator(_ColumnsOperator):
    """Keeps columns in a given order."""

    def apply_empty(self, chunk: Chunk) -> Chunk:
        """Select those columns that are there; see `Operator.apply_empty`."""
        names = chunk.batch.schema.names
        return Chunk(chunk.batch.select([name for name in self._columns if name in names]), chunk.origins)


class RemoveOperator(_ColumnsOperator):
    """Leaves columns out."""

    def apply_empty(self, chunk: Chunk) -> Chunk:
        """Remove those columns that are there; see `Operator.apply_empty`."""
        return Chunk(without_columns(chunk.batch, self._columns), chunk.origins)


class RenameOperator(Operator):
    """Gives columns other names."""

    def __init__(self, label: str, step: RenameColumns, trail: Trail) -> None:
        super().__init__(label, trail)
        self._names = dict(step.names)

    def apply(self, chunk: Chunk) -> Chunk:
        """Rename the columns; see `Operator.apply`."""
        self.require_columns(chunk, self._names)
        return self.apply_empty(chunk)

    def apply_empty(self, chunk: Chunk) -> Chunk:
        """Rename those columns that are there; see `Operator.apply_empty`."""
        names = [self._names.get(name, name) for name in chunk.batch.schema.names]
        if len(set(names)) < len(names):
            raise PlanError(f"{self.label}: two columns would have the same name, in {names}")
        return Chunk(chunk.batch.rename_columns(names), chunk.origins)


class CastOperator(Operator):
    """Brings columns to a schema."""

    def __init__(self, label: str, step: Cast, trail: Trail) -> None:
        super().__init__(label, trail)
        self._schema = step.schema

    def apply(self, chunk: Chunk) -> Chunk:
        """Cast the columns; see `Operator.apply`."""
        return Chunk(cast_batch(chunk.batch, self._schema, add_missing=True), chunk.origins)

    def apply_empty(self, chunk: Chunk) -> Chunk:
        """No rows of the schema; see `Operator.apply_empty`."""
        return Chunk(no_rows(self._schema), chunk.origins)


class NumberOperator(Operator):
    """Puts the numbers that rows were read with in the place of their columns."""

    def __init__(self, label: str, _step: RowNumbers, trail: Trail) -> None:
        super().__init__(label, trail)

    def apply(self, chunk: Chunk) -> Chunk:
        """Number the rows; see `Operator.apply`."""
        return self.apply_empty(chunk)

    def apply_empty(self, chunk: Chunk) -> Chunk:
        """The same of no rows; see `Operator.apply_empty`."""
        batch = pa.RecordBatch.from_arrays([pa.array(chunk.origins)], names=["row"])
        return Chunk(batch, chunk.origins, chunk.numbers)


def without_columns(batch: pa.RecordBatch, names: Collection[str]) -> pa.RecordBatch:
    """The batch without some of its columns; its number of rows stays where no column does."""
    return batch.select([name for name in batch.schema.names if name not in names])


def no_rows(schema: pa.Schema) -> pa.RecordBatch:
    """A record batch of a schema, without rows."""
    return pa.RecordBatch.from_pylist([], schema)
