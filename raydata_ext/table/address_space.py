"""Read values that lie scattered over many Arrow buffers, by their memory addresses.

Rows of one table lie in many buffers: one for each column, record batch and file. An address names a place in any of
them, so one vectorised read by address serves all of them at once, where reads buffer by buffer would cost a call each.

Every function here reads raw memory. The caller keeps the arrays alive that the addresses were taken from, and takes
addresses from nothing but buffers of arrays, at rows inside these arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BASE = 64  # the view starts just above the null pointer, which NumPy and Arrow take for "no data"
_EVERYTHING = pa.foreign_buffer(_BASE, 2**62)  # only a frame of reference: nothing is read but what addresses name
_BYTES = memoryview(_EVERYTHING).cast("B")
_VIEWS: dict[int, NDArray[Any]] = {
    dtype.itemsize: np.frombuffer(_EVERYTHING, dtype)
    for dtype in (np.dtype(np.uint8), np.dtype(np.int16), np.dtype(np.int32), np.dtype(np.int64))
}

_MANY = 100  # ranges, of which Arrow copies more in the time that it takes to call it
NOWHERE = _BASE  # the address of a buffer that is absent because it would be empty


def read_words(addresses: NDArray[np.int64], width: int) -> NDArray[Any]:
    """Read one value of `width` bytes at each address.

    Args:
        addresses: int64, shape (n,).
        width: bytes of a value, at least 1.

    Returns:
        Shape (n,) of signed integers (uint8 for width 1) where the width is 1, 2, 4 or 8; else uint8, shape (n, width).
    """
    view = _VIEWS.get(width)
    if view is None or np.bitwise_or.reduce(addresses) & (width - 1):
        spread = (addresses - _BASE)[:, None] + np.arange(width)
        read = _VIEWS[1].take(spread)
        return read if view is None else read.view(view.dtype)[:, 0]
    return view.take((addresses - _BASE) >> (width.bit_length() - 1))


def read_bits(bit_addresses: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Read one bit at each bit address (8 times the address of a byte, plus the number of the bit in it, lowest first).

    Args:
        bit_addresses: int64, shape (n,).

    Returns:
        bool, shape (n,).
    """
    read: NDArray[np.bool_] = (_VIEWS[1].take((bit_addresses >> 3) - _BASE) >> (bit_addresses & 7) & 1).astype(bool)
    return read


def join_ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> pa.Buffer:
    """Copy ranges of memory one after another into a new buffer.

    Args:
        starts: addresses of the first bytes; int64, shape (n,).
        lengths: bytes of each range; int64, shape (n,).
    """
    first = starts - _BASE
    if len(starts) < _MANY:
        everything = _BYTES
        pieces = [everything[i:j] for i, j in zip(first.tolist(), (first + lengths).tolist(), strict=True)]
        return pa.py_buffer(b"".join(pieces))
    # Arrow copies strings in one loop: ranges are every other string of an array over all memory, whose offsets are the
    # bounds of the ranges. From the last offset Arrow estimates how much there is to copy, so it is made to come out.
    count = len(starts)
    offsets = np.empty(2 * count + 1, np.int64)
    offsets[:-1:2] = first
    np.add(first, lengths, out=offsets[1::2])
    offsets[-1] = first[0] + 2 * lengths.sum()
    ranges = pa.Array.from_buffers(pa.large_binary(), 2 * count, [None, pa.py_buffer(offsets), _EVERYTHING])
    every_other = _EVERY_OTHER if count <= len(_EVERY_OTHER) else _every_other(count)
    return pc.take(ranges, every_other.slice(0, count), boundscheck=False).buffers()[2]


def _every_other(count: int) -> pa.Array:
    kind = np.uint32 if count <= 1 << 31 else np.uint64
    values = pa.py_buffer(np.arange(0, 2 * count, 2, dtype=kind))
    return pa.Array.from_buffers(pa.from_numpy_dtype(kind), count, [None, values])  # `pa.array` would import pandas


_EVERY_OTHER = _every_other(1 << 13)
