"""Numpy arrays as Arrow arrays at memory speed: no Python object per element.

An array of n dimensions is an Arrow list nested n - 1 times; a list of arrays, such as the token ids of many texts, is
one more level of list around their concatenated values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from raydata_ext.table.layouts import MAX_OFFSET

if TYPE_CHECKING:
    from collections.abc import Sequence

NDArray = npt.NDArray[np.generic]

DTYPES = "biufmMU"
"""Kinds of dtypes (`dtype.kind`) that are converted here."""


def array_from_ndarray(values: NDArray, *, max_offset: int = MAX_OFFSET) -> pa.Array:
    """An n-dimensional numpy array as one Arrow array of `len(values)` elements.

    Args:
        values: At least one dimension, of numbers, bools, datetimes, timedeltas or strings; masked elements become
            null. Without a mask, numbers are not copied.
        max_offset: Lists whose offsets pass this are `large_list`.

    Returns:
        An array of the numpy type, under one level of list for each further dimension.
    """
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    flat = values.reshape(-1)
    if isinstance(flat, np.ma.MaskedArray):
        array = pa.array(flat.data, mask=np.ma.getmaskarray(flat))
    else:
        array = pa.array(flat)
    sizes = [np.full(int(np.prod(values.shape[:level])), values.shape[level]) for level in range(1, values.ndim)]
    return _nest(array, sizes, None, max_offset)


def array_from_ndarrays(arrays: Sequence[NDArray | None], *, max_offset: int = MAX_OFFSET) -> pa.Array | None:
    """A list of numpy arrays, of any lengths, as one Arrow list array.

    Args:
        arrays: Arrays of one dtype and one number of dimensions (at least 1); `None` becomes null. The dtype of an
            empty array counts only if no other array has elements, and that of doubles not even then: `np.array([])` is
            float64 only for want of a value, and becomes a list of nulls.
        max_offset: Lists whose offsets pass this are `large_list`.

    Returns:
        An array of `len(arrays)` lists, or None if the arrays do not go together so simply.
    """
    present = [array for array in arrays if array is not None]
    dtypes = {array.dtype for array in present if array.size} or {array.dtype for array in present}
    ranks = {array.ndim for array in present}
    if len(dtypes) != 1 or len(ranks) != 1 or 0 in ranks:
        return None
    dtype, rank = dtypes.pop(), ranks.pop()
    if dtype.kind not in DTYPES or any(isinstance(array, np.ma.MaskedArray) for array in present):
        return None
    filled = [array for array in present if array.size]
    if filled:
        values = array_from_ndarray(np.concatenate([array.reshape(-1) for array in filled]))
    else:
        values = pa.nulls(0) if dtype == np.float64 else array_from_ndarray(np.empty(0, dtype))
    sizes = [
        np.concatenate([np.full(int(np.prod(array.shape[:level])), array.shape[level]) for array in present])
        for level in range(1, rank)
    ]
    outer = np.fromiter((0 if array is None else array.shape[0] for array in arrays), np.int64, len(arrays))
    nulls = np.fromiter((array is None for array in arrays), np.bool_, len(arrays))
    return _nest(values, [outer, *sizes], nulls if nulls.any() else None, max_offset)


def _nest(
    values: pa.Array,
    sizes: list[npt.NDArray[np.int64]],
    outer_nulls: npt.NDArray[np.bool_] | None,
    max_offset: int,
) -> pa.Array:
    """Put levels of lists around `values`; `sizes` are the lengths of the lists of each level, the outermost first."""
    array = values
    for level in reversed(range(len(sizes))):
        total = int(sizes[level].sum())
        large = total > max_offset
        offsets = np.zeros(len(sizes[level]) + 1, np.int64 if large else np.int32)
        np.cumsum(sizes[level], out=offsets[1:])
        mask = pa.array(outer_nulls) if level == 0 and outer_nulls is not None else None
        maker = pa.LargeListArray if large else pa.ListArray
        array = maker.from_arrays(pa.array(offsets), array, mask=mask)
    return array
