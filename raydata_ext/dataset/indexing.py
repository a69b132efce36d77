"""What users write between brackets, as positions of rows from 0 on."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Positions: TypeAlias = NDArray[np.int64]
    """Numbers of rows, from 0 on; shape (n,)."""


_WRONG_KEY = "rows are chosen by an int, a slice or a list of ints, a column by its name; got {!r}"


def is_one(key: object) -> bool:
    """Whether a key is the number of one row.

    Arrays have `__index__` too, but stand for several; and so do bools, which are the slips of who means a mask.
    """
    is_integer = hasattr(key, "__index__") and not isinstance(key, bool)
    return key.__class__ is int or (is_integer and getattr(key, "ndim", 0) == 0)


def position_of(key: SupportsIndex, num_rows: int) -> int:
    """The position of one row.

    Args:
        key: any integer; negative ones count from the end.
        num_rows: rows that there are.

    Raises:
        IndexError: there is no such row.
    """
    position = operator.index(key)
    if not -num_rows <= position < num_rows:
        raise IndexError(f"row {position} is out of range for {num_rows} rows")
    return position + num_rows if position < 0 else position


def positions_of(keys: Iterable[SupportsIndex] | NDArray[np.integer[Any]], num_rows: int) -> Positions:
    """The positions of several rows.

    Args:
        keys: integers in a list, a range, an array of numpy, torch, pandas or Arrow, or any iterable; negative ones
            count from the end.
        num_rows: rows that there are.

    Raises:
        TypeError: they are no integers. A mask of bools is refused too: it would read as rows 0 and 1.
        IndexError: there is no such row.
    """
    if not hasattr(keys, "__iter__") and not hasattr(keys, "__array__"):
        raise TypeError(_WRONG_KEY.format(keys))
    if isinstance(keys, range):
        found: NDArray[Any] = np.arange(keys.start, keys.stop, keys.step)
    else:
        found = np.asarray(keys if hasattr(keys, "__len__") else list(keys))
    if found.ndim == 1 and not found.size:
        return np.empty(0, np.int64)
    if found.ndim != 1 or not np.issubdtype(found.dtype, np.integer):
        raise TypeError(_WRONG_KEY.format(keys))
    lowest, highest = int(found.min()), int(found.max())
    if lowest < -num_rows or highest >= num_rows:
        wrong = highest if highest >= num_rows else lowest
        raise IndexError(f"row {wrong} is out of range for {num_rows} rows")
    found = found.astype(np.int64, copy=False)
    return np.where(found < 0, found + num_rows, found) if lowest < 0 else found


def as_run(positions: Positions) -> range | None:
    """The positions as a range, where each follows the one before it; else None."""
    if not len(positions):
        return range(0)
    first, last = int(positions[0]), int(positions[-1])
    if last - first + 1 != len(positions) or not bool((np.diff(positions) == 1).all()):
        return None
    return range(first, last + 1)
