"""An Arrow array as a list of Python values, with what `to_pylist` gives and a multiple of its speed for lists."""

from __future__ import annotations

import itertools
from typing import Any

import pyarrow as pa


def array_to_list(array: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The Python values of an array; nulls are `None`.

    Args:
        array: Any Arrow array or chunked array.

    Returns:
        A new list, equal in values and types to `array.to_pylist()`. Containers in it are new objects, so that changing
        one changes neither the array nor another element.
    """
    if isinstance(array, pa.ChunkedArray):
        return list(itertools.chain.from_iterable(map(array_to_list, array.chunks)))
    kind = array.type
    if _is_machine_number(kind) and array.null_count == 0:
        return array.to_numpy().tolist()  # type: ignore[no-any-return]  # pyarrow has no stubs
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _lists(array)
    if pa.types.is_struct(kind) and _field_names_are_distinct(kind):
        return _structs(array)
    return array.to_pylist()  # type: ignore[no-any-return]  # pyarrow has no stubs


def _is_machine_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind))


def _field_names_are_distinct(kind: pa.StructType) -> bool:
    names = [kind.field(i).name for i in range(kind.num_fields)]
    return len(set(names)) == len(names)


def _lists(array: pa.ListArray | pa.LargeListArray) -> list[list[Any] | None]:
    """All values are converted in one go and cut at the offsets."""
    if len(array) == 0:
        return []
    offsets = array.offsets.to_numpy()
    first, last = int(offsets[0]), int(offsets[-1])
    values = array_to_list(array.values.slice(first, last - first))
    bounds = (offsets - first).tolist()
    lists: list[list[Any] | None] = [values[start:stop] for start, stop in itertools.pairwise(bounds)]
    return _with_nulls(lists, array)


def _structs(array: pa.StructArray) -> list[dict[str, Any] | None]:
    names = [field.name for field in array.type]
    if not names:
        return array.to_pylist()  # type: ignore[no-any-return]  # pyarrow has no stubs
    # `field` keeps the slice of the parent but not its nulls, which are set below.
    columns = [array_to_list(array.field(i)) for i in range(len(names))]
    rows: list[dict[str, Any] | None] = [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
    return _with_nulls(rows, array)


def _with_nulls(values: list[Any], array: pa.Array) -> list[Any]:
    if array.null_count:
        for index in array.is_null().to_numpy(zero_copy_only=False).nonzero()[0].tolist():
            values[index] = None
    return values
