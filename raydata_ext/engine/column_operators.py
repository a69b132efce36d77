"""The operators of the steps that touch columns and leave rows alone."""

from __future__ import annotations

from raydata_ext.engine.chunk import Chunk
from raydata_ext.engine.step_operator import Operator, check_columns, without_columns
from raydata_ext.errors import PlanError, SchemaError
from raydata_ext.plan import Cast, RemoveColumns, RenameColumns, SelectColumns
from raydata_ext.table.cast import cast_batch


class SelectOperator(Operator):
    """Keeps columns in a given order."""

    def __init__(self, label: str, step: SelectColumns) -> None:
        super().__init__(label)
        self._columns = step.columns

    def apply(self, chunk: Chunk) -> Chunk:
        check_columns(self.label, chunk.batch, self._columns)
        return Chunk(chunk.batch.select(list(self._columns)), chunk.origins)


class RemoveOperator(Operator):
    """Leaves columns out."""

    def __init__(self, label: str, step: RemoveColumns) -> None:
        super().__init__(label)
        self._columns = step.columns

    def apply(self, chunk: Chunk) -> Chunk:
        check_columns(self.label, chunk.batch, self._columns)
        return Chunk(without_columns(chunk.batch, self._columns), chunk.origins)


class RenameOperator(Operator):
    """Gives columns other names."""

    def __init__(self, label: str, step: RenameColumns) -> None:
        super().__init__(label)
        self._names = dict(step.names)

    def apply(self, chunk: Chunk) -> Chunk:
        check_columns(self.label, chunk.batch, self._names)
        names = [self._names.get(name, name) for name in chunk.batch.schema.names]
        if len(set(names)) < len(names):
            raise PlanError(f"{self.label}: two columns would have the same name, in {names}")
        return Chunk(chunk.batch.rename_columns(names), chunk.origins)


class CastOperator(Operator):
    """Brings columns to a schema."""

    def __init__(self, label: str, step: Cast) -> None:
        super().__init__(label)
        self._schema = step.schema

    def apply(self, chunk: Chunk) -> Chunk:
        try:
            return Chunk(cast_batch(chunk.batch, self._schema, add_missing=True), chunk.origins)
        except SchemaError as error:
            raise SchemaError(f"{self.label}: {error}") from error
