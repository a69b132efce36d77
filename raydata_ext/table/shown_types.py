"""One schema for rows of several, where a column that shows no value somewhere has a type all the same.

A column of nulls, or of empty lists, is declared to be of some type, that which it had before for one, and it may be of
another one elsewhere. Where declared types do not go together, those that values show are what counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import types

from raydata_ext.errors import SchemaError
from raydata_ext.table.unify import unify_schemas, unify_types

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def shown_type(array: pa.Array | pa.ChunkedArray) -> pa.DataType:
    """The type of an array, with null in place of each part of it, at any depth, of which there is no value.

    Args:
        array: any array; what a map holds counts as shown where there is a map.
    """
    kind = array.type
    if isinstance(array, pa.ChunkedArray):
        return unify_types(map(shown_type, array.chunks))
    if array.null_count == len(array):
        return pa.null()
    if types.is_struct(kind):
        return pa.struct(
            [field.with_type(shown_type(child)) for field, child in zip(kind, array.flatten(), strict=True)]
        )
    if types.is_fixed_size_list(kind):
        return pa.list_(_shown_items(array), kind.list_size)
    for is_kind, make in _LISTS:
        if is_kind(kind):
            return make(_shown_items(array))
    return kind


def unify_shown(parts: Sequence[tuple[pa.Schema, Callable[[str], pa.DataType]]]) -> pa.Schema:
    """The schema that holds the rows of several parts, as `unify_schemas` finds it.

    Args:
        parts: for each, its schema, and what says which type the values of a column show; that is asked for columns
            whose types do not go together.

    Raises:
        SchemaError: two types that are shown have no common type; names the column path and both types.
        ValueError: a schema names a column twice.
    """
    schemas = [schema for schema, _ in parts]
    try:
        return unify_schemas(schemas)
    except SchemaError:
        columns = dict.fromkeys(name for schema in schemas for name in schema.names)
        disputed = [name for name in columns if not _go_together(name, schemas)]
    return unify_schemas(_with_shown(schema, shown, disputed) for schema, shown in parts)


def _shown_items(array: pa.Array) -> pa.Field:
    return array.type.value_field.with_type(shown_type(array.flatten()))


def _go_together(name: str, schemas: Sequence[pa.Schema]) -> bool:
    try:
        unify_types((schema.field(name).type for schema in schemas if name in schema.names), name)
    except SchemaError:
        return False
    return True


def _with_shown(schema: pa.Schema, shown: Callable[[str], pa.DataType], names: Sequence[str]) -> pa.Schema:
    fields = [field.with_type(shown(field.name)) if field.name in names else field for field in schema]
    return pa.schema(fields, metadata=schema.metadata)


_LISTS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Field], pa.DataType]], ...] = (
    (types.is_list, pa.list_),
    (types.is_large_list, pa.large_list),
    (types.is_list_view, pa.list_view),
    (types.is_large_list_view, pa.large_list_view),
)
