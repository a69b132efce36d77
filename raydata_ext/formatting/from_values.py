"""A column as a user's function returned it, as one Arrow array."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa

from raydata_ext.errors import SchemaError
from raydata_ext.formatting.from_ndarrays import DTYPES, array_from_ndarray, array_from_ndarrays
from raydata_ext.formatting.large_offsets import enlarge_type, one_array
from raydata_ext.formatting.one_kind import of_one_kind
from raydata_ext.formatting.plain_values import is_series, is_tensor, plain_value, tensor_to_numpy
from raydata_ext.formatting.type_hints import (
    fit_hint,
    fit_lists,
    narrow_tokens,
    needs_direct_conversion,
    unsigned_type,
)
from raydata_ext.table.layouts import MAX_OFFSET


def array_from_values(
    values: object, *, name: str, hint: pa.DataType | None = None, max_offset: int = MAX_OFFSET
) -> pa.Array:
    """One column as an Arrow array; the type is inferred over all of its values at once.

    Args:
        values: A list, tuple or other sequence, a numpy array, torch tensor, pandas Series, or an Arrow array. Types
            that were chosen (numpy, torch, pandas, Arrow) are kept.
        name: The column, for the conventions of token columns and for messages.
        hint: The type that the column had before; Python values take it again if none of them changes by that.
        max_offset: Lists built from numpy arrays whose offsets pass this are `large_list`.

    Returns:
        An array with one element per row. Text or lists beyond the reach of 32-bit offsets are of the large types.

    Raises:
        TypeError: `values` is no column at all, such as a single string or a number.
        SchemaError: A value does not fit Arrow or the other values; names column, row and value.
    """
    if type(values) is list and values and type(values[0]) in _LEAVES:  # by far the most, so told at once
        return _array_from_items(values, name, hint)
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return one_array(values)
    if is_series(values):
        values = _from_pandas(values, name, hint)
        if isinstance(values, pa.Array):
            return values
    if is_tensor(values):
        values = tensor_to_numpy(values)
    array = _array_from_numpy(values, max_offset)
    if array is None:
        return _array_from_items(_items(values, name), name, hint)
    return narrow_tokens(array, name) if hint is None else fit_lists(array, hint)


def _from_pandas(values: Any, name: str, hint: pa.DataType | None) -> pa.Array | list[Any]:
    """The values of a series as an array; as a list, with None for what is missing, where pandas knows no type."""
    if values.dtype == object:
        items: list[Any] = values.tolist()
        missing = np.asarray(values.isna()).tolist()
        return [None if gone else item for item, gone in zip(items, missing, strict=True)]
    array = _checked(lambda: _single(pa.Array.from_pandas(values)), values.tolist(), name)
    # pandas knows one kind of text only, so that its large one is nobody's choice.
    if pa.types.is_large_string(array.type):
        return fit_hint(array, hint or pa.string())
    if pa.types.is_dictionary(array.type) and pa.types.is_large_string(array.type.value_type):
        is_known = hint is not None and pa.types.is_dictionary(hint)
        return fit_hint(array, hint if is_known else pa.dictionary(array.type.index_type, pa.string()))
    return array


def _items(values: object, name: str) -> list[Any]:
    if isinstance(values, list):
        return values
    if isinstance(values, np.ndarray) and values.ndim:
        return values.tolist()  # type: ignore[no-any-return]  # numpy's stubs say Any
    if isinstance(values, Sequence) and not isinstance(values, (str, bytes, bytearray, memoryview)):
        return list(values)
    raise TypeError(
        f"column {name!r}: a column must be a list, numpy array, torch tensor, pandas Series or Arrow array with one "
        f"value per row, not {_shorten(values)} ({type(values).__name__})"
    )


def _array_from_numpy(values: object, max_offset: int) -> pa.Array | None:
    """The way for numpy arrays, and for lists of them or of tensors; None if `values` are something else."""
    if isinstance(values, np.ndarray) and values.ndim and values.dtype.kind in DTYPES:
        return array_from_ndarray(values, max_offset=max_offset)
    is_list = isinstance(values, (list, tuple)) or (isinstance(values, np.ndarray) and values.ndim == 1)
    return _array_from_arrays(cast("Sequence[Any]", values), max_offset) if is_list else None


def _array_from_arrays(items: Sequence[Any], max_offset: int) -> pa.Array | None:
    first = _first_present(items)
    if not isinstance(first, np.ndarray) and not is_tensor(first):
        return None
    arrays = [tensor_to_numpy(item) if is_tensor(item) else item for item in items]
    if not all(array is None or isinstance(array, np.ndarray) for array in arrays):
        return None
    return array_from_ndarrays(arrays, max_offset=max_offset)


def _first_present(items: Sequence[Any]) -> Any:
    return next((item for item in items if item is not None), None)


def _array_from_items(items: list[Any], name: str, hint: pa.DataType | None) -> pa.Array:
    if hint is None:
        return narrow_tokens(_checked(lambda: _infer(items), items, name), name)
    if needs_direct_conversion(hint):
        array = _directly(items, hint)
        if array is not None:
            return array
    try:
        return fit_hint(_checked(lambda: _infer(items), items, name), hint)
    except SchemaError:
        array = _directly(items, hint)
        if array is None:
            raise
        return array


def _directly(items: list[Any], hint: pa.DataType) -> pa.Array | None:
    """The items as the hinted type if they read back as they are."""
    try:
        array = _single(pa.array(items, type=hint))
        is_same = all(map(_reads_back, items, array.to_pylist()))
    except _MISFITS:
        return None
    return array if is_same else None


def _reads_back(item: Any, read: Any) -> bool:
    """Whether an item came back from Arrow as it was; fields that it lacks are null there."""
    if isinstance(item, np.ndarray) or is_tensor(item):
        item = plain_value(item)
    if isinstance(read, dict):
        return (
            isinstance(item, Mapping)
            and item.keys() <= read.keys()
            and all(_reads_back(item.get(name), value) for name, value in read.items())
        )
    if isinstance(read, (list, tuple)):
        return isinstance(item, (list, tuple)) and len(item) == len(read) and all(map(_reads_back, item, read))
    return bool(item == read or (item != item and read != read))  # noqa: PLR0124 - a NaN is unequal to itself


def _infer(items: list[Any]) -> pa.Array:
    if _hide_masks(items):
        items = [plain_value(item) for item in items]
    try:
        return of_one_kind(_array(items), items)
    except _MISFITS:
        # What pyarrow does not know inside lists: tensors, arrays of two dimensions, pandas' NA, integers of 64 bits.
        plain = [plain_value(item) for item in items]
        return of_one_kind(_array_or_unsigned(plain), plain)


def _hide_masks(items: list[Any]) -> bool:
    """Whether there may be masked arrays, whose masks pyarrow ignores inside of lists and structs."""
    return isinstance(_first_present(items), (np.ndarray, dict)) and any(map(_may_hide_mask, items))


def _may_hide_mask(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return isinstance(value, np.ma.MaskedArray) or value.dtype == object
    return isinstance(value, dict) and any(map(_may_hide_mask, value.values()))


def _array(items: list[Any]) -> pa.Array:
    try:
        return _single(pa.array(items))
    except pa.ArrowCapacityError:
        return _single(pa.array(items, type=enlarge_type(pa.infer_type(items))))


def _array_or_unsigned(items: list[Any]) -> pa.Array:
    try:
        return _array(items)
    except OverflowError:
        return _single(pa.array(items, type=unsigned_type(pa.infer_type(items))))


def _single(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """`pa.array` answers in chunks where text passes 2 GB."""
    return one_array(array) if isinstance(array, pa.ChunkedArray) else array


def _checked(convert: Callable[[], pa.Array], items: list[Any], name: str) -> pa.Array:
    try:
        return convert()
    except _MISFITS as error:
        row = _first_misfit(items)
        value = items[row]
        raise SchemaError(
            f"column {name!r}, row {row}: {_shorten(value)} ({type(value).__name__}) cannot stand in an Arrow column"
            f"{' with the values before it' if _fits([value]) else ''}: {_shorten_reason(error)}; return values of one"
            " type that Arrow has, or name the type in schema="
        ) from None  # the reason is told; pyarrow's message repeats the value in full


def _first_misfit(items: list[Any]) -> int:
    """Row of the value that ends the longest convertible run from the start."""
    low, high = 0, len(items)  # the first `low` items convert, the first `high` do not
    while high - low > 1:
        middle = (low + high) // 2
        if _fits(items[:middle]):
            low = middle
        else:
            high = middle
    return high - 1


def _fits(items: list[Any]) -> bool:
    try:
        _infer(items)
    except _MISFITS:
        return False
    return True


def _shorten(value: object, limit: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}..."


def _shorten_reason(error: Exception, limit: int = 200) -> str:
    text = str(error)
    return text if len(text) <= limit else f"{text[: limit // 2]}...{text[-limit // 2 :]}"


_LEAVES = frozenset({bool, int, float, str, bytes})

# A `SystemError` is raised by pyarrow where its message would quote bytes that are no text.
_MISFITS = (pa.ArrowException, ValueError, TypeError, OverflowError, SystemError)
