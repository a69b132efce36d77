"""What a layout is: how to find values of one type by address, whatever arrays they are in, and how to copy them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from numpy.typing import NDArray


class OffsetOverflowError(Exception):
    """The rows asked for do not fit one array with 32-bit offsets; the caller gathers them in several."""


@dataclass(frozen=True)
class Values:
    """Values in arrays of one type.

    Attributes:
        addresses: of the buffers of the arrays, those of an array in a column; int64, shape (addresses, arrays).
        arrays: for each value the number of the array that it is in; int64, shape (n,).
        rows: for each value its place in that array; int64, shape (n,).
    """

    addresses: NDArray[np.int64]
    arrays: NDArray[np.int64]
    rows: NDArray[np.int64]

    def addresses_at(self, number: int) -> NDArray[np.int64]:
        """Return for each value one of the addresses of its array; int64, shape (n,)."""
        found: NDArray[np.int64] = self.addresses[number].take(self.arrays)
        return found

    def within(self, first: int, stop: int | None = None) -> Values:
        """Return values of the same places in arrays that lie within these, as the fields of structs do.

        Args:
            first: number of the first address of those arrays.
            stop: number of the address after their last; None is that it is the last of all.
        """
        return Values(self.addresses[first:stop], self.arrays, self.rows)

    def between(self, start: int, stop: int) -> Values:
        """Return the values from start up to stop."""
        return Values(self.addresses, self.arrays[start:stop], self.rows[start:stop])

    def at(self, rows: NDArray[np.int64]) -> Values:
        """Return values of other places, in the same arrays; int64, shape (n,)."""
        return Values(self.addresses, self.arrays, rows)


@dataclass(frozen=True)
class FoundValues:
    """Values whose sizes are known and of which runs can be copied.

    Attributes:
        copy: copies the values from a start up to a stop to one array; the third argument is the most bytes or items
            that an array with 32-bit offsets may hold, and `OffsetOverflowError` is raised where it would hold more.
        num_bytes: returns how many bytes each value takes, about; int64, shape (n,), or one number for all of them.
    """

    copy: Callable[[int, int, int], pa.Array]
    num_bytes: Callable[[], NDArray[np.int64] | int]


class Layout(ABC):
    """Where the values of one type lie.

    Args:
        data_type: the type.
        size: how many addresses describe an array.
    """

    def __init__(self, data_type: pa.DataType, size: int) -> None:
        self.data_type = data_type
        self.size = size

    @abstractmethod
    def addresses(self, array: pa.Array) -> list[int]:
        """Return the addresses of an array of this type, `size` of them; valid while the array is alive."""

    @abstractmethod
    def find(self, values: Values) -> FoundValues:
        """Find values that lie in many arrays.

        Raises:
            CorruptFileError: they lie outside of the data of their arrays.
        """

    @abstractmethod
    def bytes_of_ranges(self, starts: Values, lengths: NDArray[np.int64]) -> NDArray[np.int64] | int:
        """Return how many bytes runs of values take, about, without looking at each value.

        Args:
            starts: the first value of each run.
            lengths: values of each run; int64, shape (n,).
        """

    def copy_ranges(self, starts: Values, lengths: NDArray[np.int64], max_offset: int) -> pa.Array:
        """Build one array of runs of values; see `bytes_of_ranges`, and `FoundValues.copy`."""
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if len(ends) else 0
        rows = np.repeat(starts.rows - (ends - lengths), lengths) + np.arange(total)
        values = Values(starts.addresses, np.repeat(starts.arrays, lengths), rows)
        return self.find(values).copy(0, total, max_offset)
