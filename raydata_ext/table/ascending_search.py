"""Search many numbers among few ascending ones, in nanoseconds each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_BLOCKS = 1 << 16
_MOST_STEPS = 4
"""So many steps take about as long as the search by halves."""


class AscendingSearch:
    """Finds for each of many numbers the place of the last of some ascending numbers that is not above it.

    The range of the numbers is cut into blocks of equal length. A table says what is found for the first number of a
    block; for the others there are a few steps to go on from there, where the numbers are spread evenly enough.

    Args:
        ascending: what is searched; int64, shape (m,), m at least 1.
    """

    def __init__(self, ascending: NDArray[np.int64]) -> None:
        self._ascending = ascending
        self._next = np.append(ascending[1:], np.iinfo(np.int64).max)
        self._first = int(ascending[0])
        span = int(ascending[-1]) - self._first
        self._shift = (span // min(_MOST_BLOCKS, 2 * len(ascending))).bit_length()
        blocks = self._first + (np.arange((span >> self._shift) + 1) << self._shift)
        self._at_block = ascending.searchsorted(blocks, side="right") - 1
        self._steps = int(np.diff(self._at_block, append=len(ascending) - 1).max())

    def last_not_above(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return places; int64, shape (n,).

        Args:
            numbers: shape (n,). For one below all, the place is 0 or -1.
        """
        if self._steps > _MOST_STEPS:
            return self._ascending.searchsorted(numbers, side="right") - 1
        places = self._at_block.take((numbers - self._first) >> self._shift, mode="clip")
        for _ in range(self._steps):
            places += self._next.take(places) <= numbers
        return places
