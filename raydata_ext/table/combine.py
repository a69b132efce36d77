"""Join arrays to as few as can hold them: 32-bit offsets count up to 2^31 bytes of strings, or items of lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import types

from raydata_ext.table.layouts import MAX_OFFSET

if TYPE_CHECKING:
    from collections.abc import Sequence


def combine_chunks(table: pa.Table, *, max_offset: int = MAX_OFFSET) -> pa.Table:
    """Join the chunks of each column to as few as can hold them; the types stay.

    Args:
        table: the table.
        max_offset: most bytes of strings, or items of lists, in an array with 32-bit offsets.
    """
    if not table.num_columns:
        return table
    columns = [
        pa.chunked_array(join_arrays(column.chunks, max_offset=max_offset), type=column.type)
        for column in table.columns
    ]
    return pa.Table.from_arrays(columns, schema=table.schema)


def join_arrays(arrays: Sequence[pa.Array], *, max_offset: int = MAX_OFFSET) -> list[pa.Array]:
    """Join arrays of one type, in their order, to as few as can hold them.

    Args:
        arrays: the arrays.
        max_offset: most bytes of strings, or items of lists, in an array with 32-bit offsets.
    """
    if len(arrays) <= 1:
        return list(arrays)
    groups: list[list[pa.Array]] = []
    room = -1
    for array in arrays:
        reach = _offset_reach(array)
        if reach > room:
            groups.append([])
            room = max_offset
        groups[-1].append(array)
        room -= reach
    return [joined for group in groups for joined in _concatenate(group)]


def _concatenate(arrays: list[pa.Array]) -> list[pa.Array]:
    try:
        return [pa.concat_arrays(arrays)]
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        # Arrow does not join arrays of some types (unions, some nested dictionaries), nor dictionaries that together
        # have more values than the type of their indices can count.
        return arrays


def _offset_reach(array: pa.Array) -> int:
    """Return what an array adds to the greatest 32-bit offset, at whatever depth, of one that it is joined to."""
    data_type = array.type
    if isinstance(data_type, pa.BaseExtensionType):
        return _offset_reach(array.storage)
    if types.is_string(data_type) or types.is_binary(data_type):
        return int(array.nbytes)
    if types.is_struct(data_type):
        return max((_offset_reach(array.field(i)) for i in range(data_type.num_fields)), default=0)
    items = _items(array)
    return 0 if items is None else max(len(items), _offset_reach(items))


def _items(array: pa.Array) -> pa.Array | None:
    """Return the items of all lists in an array, with those that lie hidden under nulls; None if it has no lists."""
    data_type = array.type
    if types.is_list(data_type) or types.is_large_list(data_type) or types.is_map(data_type):
        first, last = (array.offsets[0].as_py(), array.offsets[-1].as_py()) if len(array) else (0, 0)
        return array.values.slice(first, last - first)
    if types.is_fixed_size_list(data_type):
        return array.values.slice(array.offset * data_type.list_size, len(array) * data_type.list_size)
    if types.is_list_view(data_type) or types.is_large_list_view(data_type):
        return array.flatten()
    return None
