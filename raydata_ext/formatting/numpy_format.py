"""Rows and batches as numpy arrays: views of the Arrow memory where it has the layout of numpy.

| Arrow | numpy |
|---|---|
| numbers | the same dtype, zero copies (read-only) |
| floats with nulls | NaN |
| integers and bools with nulls | a masked array of the same dtype, never floats |
| timestamps, dates, durations | `datetime64`, `timedelta64`; null is NaT |
| lists of one length | one more dimension, zero copies |
| lists of several lengths, or with nulls among them | an object array of arrays (views), None for null |
| text, bytes, decimals, times | an object array of Python values |
| structs | an object array of dictionaries of these |

Text is not `<U`: such an array takes 4 bytes times the longest text for *every* row, and numpy's `S` drops trailing
zero bytes.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pat

from raydata_ext.formatting.formatter import MappingFormatter
from raydata_ext.formatting.large_offsets import one_array

if TYPE_CHECKING:
    from collections.abc import Sequence

NDArray = npt.NDArray[Any]


class NumpyFormatter(MappingFormatter):
    """Rows are dictionaries of numpy scalars and arrays, batches dictionaries of arrays.

    Args:
        columns: As in `Formatter`.
        output_all_columns: As in `Formatter`.
        dtype: For all numbers and bools, at any depth; None keeps the dtype of the column.
    """

    def __init__(
        self,
        columns: Sequence[str] | None = None,
        *,
        output_all_columns: bool = False,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        super().__init__(columns, output_all_columns=output_all_columns)
        self.dtype = None if dtype is None else np.dtype(dtype)

    def value(self, array: pa.Array | pa.ChunkedArray, index: int) -> Any:
        """The value of one row of a column: a numpy scalar, an array, a Python object, or None for null."""
        if not array[index].is_valid:
            return None
        return self.column(array.slice(index, 1))[0]

    def column(self, array: pa.Array | pa.ChunkedArray) -> NDArray:
        """A column as an array of one element per row."""
        values = array_to_numpy(array)
        return values if self.dtype is None else _with_dtype(values, self.dtype)


def array_to_numpy(array: pa.Array | pa.ChunkedArray) -> NDArray:
    """An Arrow array as numpy array by the table of this module.

    Args:
        array: Any Arrow array; several chunks are joined first.

    Returns:
        `len(array)` elements along the first dimension. It may be a read-only view of the memory of `array`.
    """
    array = one_array(array)
    if isinstance(array, pa.FixedShapeTensorArray):
        return _tensors_to_numpy(array)
    if isinstance(array, pa.ExtensionArray):
        return array_to_numpy(array.storage)
    if isinstance(array, pa.DictionaryArray):
        return array_to_numpy(array.dictionary_decode())
    return _nested_to_numpy(array) if pat.is_nested(array.type) else _flat_to_numpy(array)


def element(values: NDArray, index: int) -> Any:
    """One element of what `array_to_numpy` gives; None where it is masked."""
    value = values[index]
    return None if value is np.ma.masked else value


def _flat_to_numpy(array: pa.Array) -> NDArray:
    kind = array.type
    if (pat.is_integer(kind) or pat.is_boolean(kind)) and array.null_count:
        nulls = array.is_null().to_numpy(zero_copy_only=False)
        values = array.fill_null(False if pat.is_boolean(kind) else 0).to_numpy(zero_copy_only=False)
        return np.ma.MaskedArray(values, mask=nulls)
    if pat.is_null(kind):
        return _objects([None] * len(array))
    if pat.is_time(kind):  # of nanoseconds, too, which Python's times do not have and numpy would refuse
        return _objects(array.to_pylist())
    return array.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]  # pyarrow has no stubs


def _tensors_to_numpy(array: pa.FixedShapeTensorArray) -> NDArray:
    if not array.null_count:
        return array.to_numpy_ndarray()  # type: ignore[no-any-return]  # pyarrow has no stubs
    present = array.is_valid().to_numpy(zero_copy_only=False)
    result = np.empty(len(array), dtype=object)
    if present.any():
        result[present] = _objects([*array.drop_null().to_numpy_ndarray()])
    return result


def _nested_to_numpy(array: pa.Array) -> NDArray:
    kind = array.type
    if pat.is_fixed_size_list(kind) and array.null_count:
        return array_to_numpy(array.cast(pa.list_(kind.value_field)))
    if pat.is_fixed_size_list(kind):
        return _lists_to_numpy(array.flatten(), np.arange(len(array) + 1) * kind.list_size, array)
    if pat.is_list(kind) or pat.is_large_list(kind):
        offsets = array.offsets.to_numpy()
        return _lists_to_numpy(array.values.slice(offsets[0], offsets[-1] - offsets[0]), offsets - offsets[0], array)
    if pat.is_struct(kind):
        return _structs_to_numpy(array)
    return _objects(array.to_pylist())


def _lists_to_numpy(items: pa.Array, offsets: npt.NDArray[np.integer], array: pa.Array) -> NDArray:
    """Lists as one array if they are all of one shape, else as an object array of one array each.

    Args:
        items: The items of all lists.
        offsets: Row i holds the items [offsets[i], offsets[i + 1]).
        array: The list array, for its nulls.
    """
    rows = len(array)
    lengths = np.diff(offsets)
    values = array_to_numpy(items)
    items_are_ragged = _is_list(items.type) and values.dtype == object and values.ndim == 1
    if rows and not array.null_count and not items_are_ragged and (lengths == lengths[0]).all():
        return values.reshape(rows, lengths[0], *values.shape[1:])
    bounds = offsets.tolist()
    present = array.is_valid().to_numpy(zero_copy_only=False).tolist()
    result = np.empty(rows, dtype=object)
    for row, (start, stop) in enumerate(itertools.pairwise(bounds)):
        if not present[row]:
            continue
        # The shape of a row depends on that row alone: where others are ragged, it may still be a proper matrix.
        result[row] = array_to_numpy(items.slice(start, stop - start)) if items_are_ragged else values[start:stop]
    return result


def _is_list(kind: pa.DataType) -> bool:
    return bool(pat.is_list(kind) or pat.is_large_list(kind) or pat.is_fixed_size_list(kind))


def _structs_to_numpy(array: pa.StructArray) -> NDArray:
    fields = {field.name: array_to_numpy(array.field(i)) for i, field in enumerate(array.type)}
    present = array.is_valid().to_numpy(zero_copy_only=False).tolist()
    return _objects(
        [
            {name: element(values, row) for name, values in fields.items()} if present[row] else None
            for row in range(len(array))
        ]
    )


def _objects(values: list[Any]) -> NDArray:
    """A one-dimensional object array, whatever numpy would make of the values."""
    result = np.empty(len(values), dtype=object)
    result[:] = values
    return result


def _with_dtype(values: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(values, np.ndarray) and values.dtype == object:
        return _objects([_with_dtype(value, dtype) for value in values.ravel()]).reshape(values.shape)
    if isinstance(values, dict):
        return {name: _with_dtype(value, dtype) for name, value in values.items()}
    if isinstance(values, (np.ndarray, np.generic)) and values.dtype.kind in "biuf":
        return values.astype(dtype, copy=False)
    return values
