"""Cast Arrow arrays, batches and tables to another schema, to any depth, and say exactly what does not fit.

Casts are safe: a value that the target type cannot hold is an error, never rounded or wrapped. Beyond what pyarrow
casts itself, struct fields may come in another order or be missing (they become null), null may become anything, and
list, large_list, fixed_size_list, list views and maps are rebuilt around the cast of their items. Values hidden under
nulls are dropped first, so what lies there can neither fail a cast nor reappear.

A place inside a column is named `column.field[].field`, where `[]` stands for the items of a list.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from raydata_ext.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_OFFSET_32 = 2**31 - 1
_FOR_ALL_INTEGERS = "; where integers are negative and beyond int64, say in schema= that they are decimal128(20, 0)"


def cast_table(table: pa.Table, schema: pa.Schema, *, add_missing: bool = False) -> pa.Table:
    """Cast a table to a schema: types, order of columns, nullability and metadata are then those of the schema.

    Args:
        table: the table; its columns are found by name (equal names in their order).
        schema: the schema to have. It must name every column of the table.
        add_missing: whether columns that the table lacks become null columns.

    Returns:
        The table with exactly `schema`; columns that need no cast are shared, chunks stay as they are.

    Raises:
        SchemaError: a column is missing or not in the schema, or cannot be cast; names the column path and both types.
    """
    if table.schema.equals(schema, check_metadata=True):
        return table
    columns = [
        pa.chunked_array([pa.nulls(table.num_rows, field.type)])
        if index is None
        else _require_no_nulls(cast_array(table.column(index), field.type, field.name), field, field.name)
        for field, index in zip(schema, _match_columns(table.schema, schema, add_missing), strict=True)
    ]
    if not columns:  # a table of no columns still has rows, which only its batches keep
        batches = [batch.replace_schema_metadata(schema.metadata) for batch in table.to_batches()]
        return pa.Table.from_batches(batches, schema)
    return pa.Table.from_arrays(columns, schema=schema)


def cast_batch(batch: pa.RecordBatch, schema: pa.Schema, *, add_missing: bool = False) -> pa.RecordBatch:
    """Cast a record batch to a schema; see `cast_table`."""
    if batch.schema.equals(schema, check_metadata=True):
        return batch
    columns = [
        pa.nulls(batch.num_rows, field.type)
        if index is None
        else _require_no_nulls(cast_array(batch.column(index), field.type, field.name), field, field.name)
        for field, index in zip(schema, _match_columns(batch.schema, schema, add_missing), strict=True)
    ]
    if not columns:
        return batch.replace_schema_metadata(schema.metadata)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def cast_array(
    array: pa.Array | pa.ChunkedArray, target: pa.DataType, path: str = "column"
) -> pa.Array | pa.ChunkedArray:
    """Cast an array, or each chunk of a chunked array, to a type.

    Args:
        array: the array; slices are fine.
        target: the type to have, nested to any depth.
        path: name of the array in error messages.

    Returns:
        An array of exactly the type `target` and the same length.

    Raises:
        SchemaError: the types do not go together, or a value does not fit; names the path and both types.
    """
    if isinstance(array, pa.ChunkedArray):
        return pa.chunked_array([cast_array(chunk, target, path) for chunk in array.chunks], type=target)
    if array.type.equals(target, check_metadata=True):
        return array
    for applies, cast in _CASTS:
        if applies(array.type, target):
            return cast(array, target, path)
    return _cast_leaf(array, target, path)


def _match_columns(source: pa.Schema, target: pa.Schema, add_missing: bool) -> list[int | None]:
    """Return, for each field of the target, the index of its column in the source, or None where it is to be added."""
    unused: dict[str, list[int]] = defaultdict(list)
    for index in reversed(range(len(source))):
        unused[source.names[index]].append(index)
    matches = [unused[name].pop() if unused[name] else None for name in target.names]
    missing = [field for field, index in zip(target, matches, strict=True) if index is None]
    extra = [name for name, indices in unused.items() if indices]
    if extra or (missing and not add_missing):
        raise SchemaError(
            f"columns do not match: missing {[field.name for field in missing]}, not in the target schema {extra}; "
            f"select or rename the columns first, or let missing columns be added as nulls"
        )
    for field in missing:
        if not field.nullable:
            raise SchemaError(
                f"column `{field.name}` ({field.type}) is missing and cannot be null in the target schema"
            )
    return matches


def _require_no_nulls(array: pa.Array | pa.ChunkedArray, field: pa.Field, path: str) -> pa.Array | pa.ChunkedArray:
    if not field.nullable and array.null_count:
        raise SchemaError(
            f"`{path}` has {array.null_count} nulls but {field.type} is not nullable in the target schema"
        )
    return array


def _cast_to_extension(array: pa.Array, target: pa.DataType, path: str) -> pa.Array:
    storage = array.storage if _is_extension(array.type) else array
    return pa.ExtensionArray.from_storage(target, cast_array(storage, target.storage_type, path))


def _cast_leaf(array: pa.Array, target: pa.DataType, path: str) -> pa.Array:
    if array.null_count == len(array):
        return pa.nulls(len(array), target)
    try:
        return array.cast(target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        remedy = _FOR_ALL_INTEGERS if types.is_uint64(target) and types.is_signed_integer(array.type) else ""
        raise _cannot_cast(array.type, target, path, f"{error}{remedy}") from error


def _cast_dictionary(array: pa.Array, target: pa.DataType, path: str) -> pa.Array:
    if not types.is_dictionary(target):
        return cast_array(array.dictionary_decode(), target, path)
    if not types.is_dictionary(array.type):
        array = cast_array(array, target.value_type, path)
        try:
            array = array.dictionary_encode()
        except pa.ArrowNotImplementedError as error:
            raise _cannot_cast(array.type, target, path, str(error)) from error
    indices = _cast_leaf(array.indices, target.index_type, path)
    dictionary = cast_array(array.dictionary, target.value_type, path)
    return pa.DictionaryArray.from_arrays(indices, dictionary, ordered=target.ordered)


def _cast_struct(array: pa.Array, target: pa.StructType, path: str) -> pa.Array:
    source = array.type
    if not types.is_struct(source):
        if array.null_count == len(array):
            return pa.nulls(len(array), target)
        raise _cannot_cast(source, target, path)
    names = [field.name for field in source]
    extra = sorted(set(names) - {field.name for field in target})
    if extra:
        raise _cannot_cast(source, target, path, f"the target lacks the fields {extra}")
    if len(set(names)) != len(names):
        raise _cannot_cast(source, target, path, "two fields have the same name")
    children = dict(zip(names, array.flatten(), strict=True))  # with the nulls of the struct itself, unlike `field()`
    validity = _validity(array)
    casts = []
    for field in target:
        child_path = f"{path}.{field.name}"
        child = children.get(field.name)
        casts.append(pa.nulls(len(array), field.type) if child is None else cast_array(child, field.type, child_path))
        if not field.nullable and casts[-1].null_count > array.null_count:
            raise SchemaError(f"`{child_path}` has nulls but {field.type} is not nullable in the target type {target}")
    return pa.Array.from_buffers(target, len(array), [validity], children=casts)


def _cast_list(array: pa.Array, target: pa.DataType, path: str) -> pa.Array:
    source = array.type
    if not _is_list(source):
        if array.null_count == len(array):
            return pa.nulls(len(array), target)
        raise _cannot_cast(source, target, path)
    if types.is_map(source):
        entries = pa.struct([source.key_field, source.item_field])
        array = array.cast(pa.list_(pa.field("entries", entries, nullable=False)))
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    item_field = _item_field(target)
    items = cast_array(array.flatten(), item_field.type, f"{path}[]")
    _require_no_nulls(items, item_field, f"{path}[]")
    if types.is_fixed_size_list(target):
        return _fixed_size_list(array, items, lengths, target, path)
    offsets = np.zeros(len(array) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    wide = types.is_large_list(target) or types.is_large_list_view(target)
    if not wide:
        if offsets[-1] > _MAX_OFFSET_32:
            raise _cannot_cast(source, target, path, f"{offsets[-1]} items need 64-bit offsets; cast to large_list")
        offsets = offsets.astype(np.int32)
    buffers = [_validity(array), pa.py_buffer(offsets)]
    if types.is_list_view(target) or types.is_large_list_view(target):
        buffers = [buffers[0], pa.py_buffer(offsets[:-1]), pa.py_buffer(np.diff(offsets))]
    return pa.Array.from_buffers(target, len(array), buffers, children=[items])


def _fixed_size_list(
    array: pa.Array, items: pa.Array, lengths: np.ndarray, target: pa.FixedSizeListType, path: str
) -> pa.Array:
    size = target.list_size
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero(valid & (lengths != size))
    if wrong.size:
        row = int(wrong[0])
        raise _cannot_cast(array.type, target, path, f"the list at row {row} has {lengths[row]} items, not {size}")
    if array.null_count:  # a null list takes room for its items all the same
        slots = np.full((len(array), size), -1, np.int64)
        slots[valid] = np.arange(len(items)).reshape(-1, size) if size else np.empty((int(valid.sum()), 0), np.int64)
        items = items.take(pa.array(slots.ravel(), mask=slots.ravel() < 0))
    return pa.Array.from_buffers(target, len(array), [_validity(array)], children=[items])


def _item_field(target: pa.DataType) -> pa.Field:
    if types.is_map(target):
        return pa.field("entries", pa.struct([target.key_field, target.item_field]), nullable=False)
    return target.value_field


def _is_extension(data_type: pa.DataType) -> bool:
    return isinstance(data_type, pa.BaseExtensionType)


def _is_list(data_type: pa.DataType) -> bool:
    return bool(
        types.is_list(data_type)
        or types.is_large_list(data_type)
        or types.is_fixed_size_list(data_type)
        or types.is_map(data_type)
        or types.is_list_view(data_type)
        or types.is_large_list_view(data_type)
    )


def _validity(array: pa.Array) -> pa.Buffer | None:
    """Return the validity bitmap of an array from its first bit on, whatever its offset, or None without nulls."""
    if not array.null_count:
        return None
    return pc.invert(array.is_null()).buffers()[1]


def _cannot_cast(source: pa.DataType, target: pa.DataType, path: str, reason: str = "") -> SchemaError:
    return SchemaError(f"`{path}` cannot be cast from {source} to {target}" + (f": {reason}" if reason else ""))


# The first cast whose condition on source and target type holds; all else is a cast of single values.
_CASTS: tuple[tuple[Callable[[pa.DataType, pa.DataType], bool], Callable[[pa.Array, pa.DataType, str], pa.Array]], ...]
_CASTS = (
    (lambda _source, target: _is_extension(target), _cast_to_extension),
    (lambda source, _target: _is_extension(source), lambda array, *to: cast_array(array.storage, *to)),
    (lambda source, _target: types.is_null(source), lambda array, target, _path: pa.nulls(len(array), target)),
    (lambda source, target: types.is_dictionary(source) or types.is_dictionary(target), _cast_dictionary),
    (lambda _source, target: types.is_struct(target), _cast_struct),
    (lambda _source, target: _is_list(target), _cast_list),
)
