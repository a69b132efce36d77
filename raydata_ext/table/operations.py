"""The operations that make a table out of another: a fixed list of values, which can be applied, kept and sent.

An operation can be applied to rows at hand, and its effect on schema and number of rows is known without any rows. Its
state is its name and plain arguments; columns and masks that the user gave are in it as Arrow IPC bytes.
`operation_from_state` accepts nothing but the operations listed here.
"""

from __future__ import annotations

import reprlib
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import pyarrow as pa
from pyarrow import types
from typing_extensions import override

from raydata_ext.errors import StateError
from raydata_ext.table.cast import cast_table
from raydata_ext.table.combine import combine_chunks
from raydata_ext.table.rows_without_columns import rows_without_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

OperationState: TypeAlias = "tuple[str, tuple[object, ...]]"
"""Name and arguments of an operation."""


@dataclass(frozen=True)
class Operation(ABC):
    """One way of making a table out of another. Its classes are frozen dataclasses; the list at the end is complete."""

    name: ClassVar[str]
    keeps_rows_in_place: ClassVar[bool] = False
    """Whether it touches no row: it only says which columns there are and how they are called."""
    keeps_columns: ClassVar[bool] = False
    """Whether it touches neither rows nor columns, but only what is said about them."""

    def apply(self, table: pa.Table) -> pa.Table:
        """Return the table that this operation makes."""
        applied = self._apply(table)
        if applied.num_columns:
            return applied
        return rows_without_columns(self.rows_after(table.num_rows), applied.schema.metadata)

    @abstractmethod
    def _apply(self, table: pa.Table) -> pa.Table:
        """Return the table that this operation makes; of the number of rows, if it has no columns, never mind."""

    def arguments(self) -> tuple[object, ...]:
        """Return plain values from which the operation can be made again."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def schema_after(self, schema: pa.Schema) -> pa.Schema:
        """Return the schema of what this operation makes of a table with the given schema."""
        before, after = self.__dict__.get("_last_schemas", (None, None))
        if before is None or not (before is schema or before.equals(schema, check_metadata=True)):
            after = self._schema_after(schema)
            # Thousands of blocks of one table mostly have one schema. The fields of the operation do not change.
            object.__setattr__(self, "_last_schemas", (schema, after))
        return after

    def _schema_after(self, schema: pa.Schema) -> pa.Schema:
        return self.apply(schema.empty_table()).schema

    def rows_after(self, num_rows: int) -> int:
        """Return the number of rows of what this operation makes of a table with so many rows."""
        return num_rows

    def after(self, earlier: Operation, schema: pa.Schema) -> Operation | None:  # noqa: ARG002  # the general case
        """Return the one operation that equals `earlier` followed by this one, or None where there is none.

        Args:
            earlier: the operation before this one.
            schema: the schema to which `earlier` is applied.
        """
        return None


@dataclass(frozen=True)
class Slice(Operation):
    """The rows from `offset` on, `length` of them; both not negative, within the table."""

    offset: int
    length: int

    name = "slice"

    def __post_init__(self) -> None:
        if self.offset < 0 or self.length < 0:
            raise ValueError(f"offset and length of a slice must not be negative, but are {self.offset}, {self.length}")

    @override
    def _apply(self, table: pa.Table) -> pa.Table:
        return table.slice(self.offset, self.length)

    @override
    def _schema_after(self, schema: pa.Schema) -> pa.Schema:
        return schema

    @override
    def rows_after(self, num_rows: int) -> int:
        return max(min(self.length, num_rows - self.offset), 0)

    @override
    def after(self, earlier: Operation, schema: pa.Schema) -> Operation | None:
        if not isinstance(earlier, Slice):
            return None
        return Slice(earlier.offset + self.offset, max(min(self.length, earlier.length - self.offset), 0))


@dataclass(frozen=True)
class Filter(Operation):
    """The rows where the mask is true; a row where it is null is dropped, or else all its values become null."""

    mask: pa.BooleanArray
    nulls: str = "drop"

    name = "filter"

    def __post_init__(self) -> None:
        if self.nulls not in ("drop", "emit_null"):
            raise ValueError(f"null_selection_behavior must be 'drop' or 'emit_null', not {self.nulls!r}")

    @override
    def _apply(self, table: pa.Table) -> pa.Table:
        if len(self.mask) != table.num_rows:
            raise ValueError(f"a mask of {len(self.mask)} values does not fit a table of {table.num_rows} rows")
        return table.filter(self.mask, null_selection_behavior=self.nulls)

    @override
    def arguments(self) -> tuple[object, ...]:
        return (_column_to_ipc(pa.field("mask", pa.bool_()), self.mask), self.nulls)

    @classmethod
    def from_arguments(cls, mask: pa.Buffer | bytes, nulls: str) -> Filter:
        """Make the operation from its arguments."""
        return cls(_column_from_ipc(mask)[1].combine_chunks(), nulls)

    @override
    def _schema_after(self, schema: pa.Schema) -> pa.Schema:
        return schema

    @override
    def rows_after(self, num_rows: int) -> int:
        return int(self.mask.true_count) + (int(self.mask.null_count) if self.nulls == "emit_null" else 0)

    def between(self, start: int, length: int) -> Filter:
        """Return the part of the operation that concerns some of the rows."""
        return Filter(self.mask.slice(start, length), self.nulls)


@dataclass(frozen=True)
class Flatten(Operation):
    """Each struct column becomes one column for each of its fields, one level deep."""

    name = "flatten"

    @override
    def _apply(self, table: pa.Table) -> pa.Table:
        return table.flatten()


@dataclass(frozen=True)
class CombineChunks(Operation):
    """The chunks of each column become one, or several where one could not hold them."""

    name = "combine_chunks"

    @override
    def _apply(self, table: pa.Table) -> pa.Table:
        return combine_chunks(table)

    @override
    def _schema_after(self, schema: pa.Schema) -> pa.Schema:
        return schema

    @override
    def after(self, earlier: Operation, schema: pa.Schema) -> Operation | None:
        return self if isinstance(earlier, CombineChunks) else None


@dataclass(frozen=True)
class Cast(Operation):
    """Another schema: columns by name, in the order of the schema, with its types, nullability and metadata."""

    schema: pa.Schema
    add_missing: bool = False

    name = "cast"

    def __post_init__(self) -> None:
        if not isinstance(self.schema, pa.Schema):
            raise TypeError(f"the schema to cast to must be a pyarrow.Schema, not {type(self.schema).__name__}")

    @override
    def _apply(self, table: pa.Table) -> pa.Table:
        return cast_table(table, self.schema, add_missing=self.add_missing)

    @override
    def after(self, earlier: Operation, schema: pa.Schema) -> Operation | None:
        if not isinstance(earlier, Cast) or not _cast_is_redundant(schema, earlier.schema, self.schema):
            return None
        return replace(self, add_missing=self.add_missing or earlier.add_missing)


@dataclass(frozen=True)
class ReplaceSchemaMetadata(Operation):
    """Other metadata of the schema, or none."""

    metadata: tuple[tuple[bytes, bytes], ...] | None

    name = "replace_schema_metadata"
    keeps_rows_in_place = True
    keeps_columns = True

    @classmethod
    def of(cls, metadata: Mapping[bytes | str, bytes | str] | None) -> ReplaceSchemaMetadata:
        """Make the operation from any mapping that pyarrow takes."""
        plain = pa.schema([], metadata=metadata).metadata
        return cls(None if plain is None else tuple(plain.items()))

    @override
    def _apply(self, table: pa.Table) -> pa.Table:
        return table.replace_schema_metadata(None if self.metadata is None else dict(self.metadata))

    @override
    def after(self, earlier: Operation, schema: pa.Schema) -> Operation | None:
        return self if isinstance(earlier, ReplaceSchemaMetadata) else None


@dataclass(frozen=True)
class Select(Operation):
    """Some of the columns, by their positions, in this order."""

    positions: tuple[int, ...]

    name = "select"
    keeps_rows_in_place = True

    @override
    def _apply(self, table: pa.Table) -> pa.Table:
        return table.select(list(self.positions))

    @override
    def after(self, earlier: Operation, schema: pa.Schema) -> Operation | None:
        if not isinstance(earlier, Select):
            return None
        return Select(tuple(earlier.positions[position] for position in self.positions))


@dataclass(frozen=True)
class RenameColumns(Operation):
    """Other names for all columns."""

    names: tuple[str, ...]

    name = "rename_columns"
    keeps_rows_in_place = True

    @override
    def _apply(self, table: pa.Table) -> pa.Table:
        return table.rename_columns(list(self.names))

    @override
    def after(self, earlier: Operation, schema: pa.Schema) -> Operation | None:
        return self if isinstance(earlier, RenameColumns) else None


@dataclass(frozen=True)
class AddColumn(Operation):
    """One more column, before the one at `position` or at the end."""

    position: int
    field: pa.Field
    column: pa.ChunkedArray

    name = "add_column"

    @override
    def _apply(self, table: pa.Table) -> pa.Table:
        return table.add_column(self.position, self.field, self.column)

    @override
    def arguments(self) -> tuple[object, ...]:
        return (self.position, _column_to_ipc(self.field, self.column))

    @classmethod
    def from_arguments(cls, position: int, column: pa.Buffer | bytes) -> AddColumn:
        """Make the operation from its arguments."""
        return cls(position, *_column_from_ipc(column))

    @override
    def _schema_after(self, schema: pa.Schema) -> pa.Schema:
        return self.between(0, 0).apply(schema.empty_table()).schema

    def between(self, start: int, length: int) -> AddColumn:
        """Return the part of the operation that concerns some of the rows."""
        return replace(self, column=self.column.slice(start, length))


@dataclass(frozen=True)
class SetColumn(AddColumn):
    """Another column in the place of the one at `position`."""

    name = "set_column"

    @override
    def _apply(self, table: pa.Table) -> pa.Table:
        return table.set_column(self.position, self.field, self.column)


def operation_from_state(state: object) -> Operation:
    """Make an operation from its state.

    Raises:
        StateError: the state is not that of an operation of this module.
    """
    match state:
        case (str(name), tuple(arguments)) if name in _FACTORIES:
            try:
                return _FACTORIES[name](*arguments)
            except (TypeError, ValueError, pa.ArrowException) as error:
                raise StateError(f"the state of a table has unusable arguments for {name!r}: {error}") from error
    raise StateError(
        f"the state of a table names {reprlib.repr(state)}, which is not an operation that can be replayed "
        f"({', '.join(sorted(_FACTORIES))}); make the table anew"
    )


_FACTORIES: dict[str, Callable[..., Operation]] = {
    Slice.name: Slice,
    Filter.name: Filter.from_arguments,
    Flatten.name: Flatten,
    CombineChunks.name: CombineChunks,
    Cast.name: Cast,
    ReplaceSchemaMetadata.name: ReplaceSchemaMetadata,
    Select.name: Select,
    RenameColumns.name: RenameColumns,
    AddColumn.name: AddColumn.from_arguments,
    SetColumn.name: SetColumn.from_arguments,
}


def _cast_is_redundant(source: pa.Schema, between: pa.Schema, target: pa.Schema) -> bool:
    """Tell whether casting source to between to target always gives what casting source to target gives."""
    for schema in (source, between, target):
        if len(set(schema.names)) < len(schema.names):
            return False
    return all(
        _step_is_redundant(
            source.field(field.name).type if field.name in source.names else pa.null(),
            field.type,
            target.field(field.name).type,
        )
        for field in between
        if field.name in target.names
    )


def _step_is_redundant(source: pa.DataType, between: pa.DataType, target: pa.DataType) -> bool:
    if source.equals(between) or between.equals(target) or types.is_null(source):
        return True
    if not (types.is_integer(source) and types.is_integer(between) and types.is_integer(target)):
        return False
    signed, source_signed = types.is_signed_integer(between), types.is_signed_integer(source)
    holds_all = between.bit_width >= source.bit_width if signed == source_signed else False
    return holds_all or (signed and not source_signed and between.bit_width > source.bit_width)


def _column_to_ipc(field: pa.Field, column: pa.Array | pa.ChunkedArray) -> pa.Buffer:
    table = pa.Table.from_arrays([column], schema=pa.schema([field]))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _column_from_ipc(data: pa.Buffer | bytes) -> tuple[pa.Field, pa.ChunkedArray]:
    if not isinstance(data, pa.Buffer | bytes | bytearray | memoryview):
        raise TypeError(f"a column must be Arrow IPC bytes, not {type(data).__name__}")
    table = pa.ipc.open_stream(data).read_all()
    if table.num_columns != 1:
        raise ValueError(f"expected Arrow IPC bytes of one column, found {table.num_columns}")
    table.validate()
    return table.schema.field(0), table.column(0)
