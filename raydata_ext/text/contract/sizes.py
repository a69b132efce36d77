"""Sizes of rows as arrays, and what is computed from them.

The sizes of several rows are an array: of shape (rows,) where a row has one length, of shape (rows, sides) where it has
several (a source and a target). Rows that are made of named parts have a dict of such arrays. The size of one row is
accordingly an int, a tuple, or a dict.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from raydata_ext.text.contract.tensors import to_array

if TYPE_CHECKING:
    from collections.abc import Sized

IntArray: TypeAlias = NDArray[np.integer[Any]]
Rows: TypeAlias = "slice | IntArray"
"""Which rows: a slice of all, or their numbers, not negative, of shape (n,)."""
Sizes: TypeAlias = "IntArray | Mapping[str, Sizes]"
Size: TypeAlias = "int | tuple[int, ...] | dict[str, Size]"


def as_sizes(sizes: Any, owner: object) -> IntArray:
    """Return what a user gives as sizes as an array; arrays of integers are not copied, save those of uint64.

    Args:
        sizes: an array, list or tensor of integers, of one or two dimensions.
        owner: whose sizes they are, for the message.

    Raises:
        ValueError: they are no such thing, or one is negative.
    """
    array = np.asarray(to_array(sizes))
    if array.size == 0:
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu" or array.ndim not in {1, 2}:
        raise ValueError(
            f"{type(owner).__name__}: sizes must be integers of shape (rows,) or (rows, sides), "
            f"not {array.dtype} of shape {array.shape}"
        )
    if array.dtype == np.uint64:
        array = array.astype(np.int64)  # the sum of both would be floats
    if array.dtype.kind == "i" and array.size and array.min() < 0:
        row = np.unravel_index(array.argmin(), array.shape)[0]
        raise ValueError(f"{type(owner).__name__}: the size of row {row} is {array.min()}, but must not be negative")
    return array


def one_size(sizes: Sizes) -> Size:
    """Return the sizes of a single row as plain numbers."""
    if isinstance(sizes, Mapping):
        return {key: one_size(part) for key, part in sizes.items()}
    row = sizes[0].tolist()
    return tuple(row) if isinstance(row, list) else int(row)


def longest(sizes: Sizes) -> IntArray:
    """Return the largest length of each row, shape (rows,)."""
    if isinstance(sizes, Mapping):
        if not sizes:
            raise ValueError("there are no parts to take the longest of")
        parts = [longest(part) for part in sizes.values()]
        return np.asarray(np.maximum.reduce(parts))
    return sizes if sizes.ndim == 1 else sizes.max(axis=1)


def sort_by_size(rows: NDArray[np.int64], sizes: Sizes) -> NDArray[np.int64]:
    """Return rows from short to long: by the first side or part, among equals by the next; then in the order given.

    Args:
        rows: numbers of rows, shape (n,).
        sizes: those of all rows.
    """
    for side in reversed(_sides(sizes)):
        rows = rows[np.argsort(_narrow(side)[rows], kind="stable")]
    return rows


def position(index: SupportsIndex, dataset: Sized) -> int:
    """Return the number of a row that a user asks for; negative indices count from the end.

    Raises:
        IndexError: there is no such row.
    """
    number = operator.index(index)
    length = len(dataset)
    if not -length <= number < length:
        raise IndexError(f"{type(dataset).__name__}: index {number} is out of range for {length} rows")
    return number % length


def _sides(sizes: Sizes) -> list[IntArray]:
    """Return the lengths of all rows, an array for each that a row has."""
    if isinstance(sizes, Mapping):
        return [side for part in sizes.values() for side in _sides(part)]
    return [sizes] if sizes.ndim == 1 else list(sizes.T)


def _narrow(sizes: IntArray) -> IntArray:
    """Return sizes as 16 bits where they fit: those are sorted by radix, four times as fast."""
    if sizes.dtype.itemsize > 2 and len(sizes) and sizes.max() < 1 << 16:  # noqa: PLR2004 - bytes of 16 bits
        return sizes.astype(np.uint16)
    return sizes
