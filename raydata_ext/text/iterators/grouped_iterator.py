"""`GroupedIterator`: elements in lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raydata_ext.text.iterators.counting_iterator import CountingIterator, count_of_groups, groups_of, remaining

if TYPE_CHECKING:
    from collections.abc import Iterable


class GroupedIterator(CountingIterator[list[Any]]):
    """Elements of an iterable in lists of `chunk_size`; the last may be shorter.

    Over an iterator that was begun, it goes on with the next element, and what was taken before counts as so many lists
    as it would have filled, a started one included.

    Args:
        iterable: the elements.
        chunk_size: how many to a list.
        skip_remainder_batch: leave out a last list that is shorter.

    Raises:
        ValueError: `chunk_size` is not positive.
    """

    def __init__(self, iterable: Iterable[Any], chunk_size: int, skip_remainder_batch: bool = False) -> None:
        if chunk_size < 1:
            raise ValueError(f"chunk_size is {chunk_size}; it must be at least 1")
        start = -(-getattr(iterable, "n", 0) // chunk_size)
        left = remaining(iterable)
        total = None if left is None else start + count_of_groups(left, chunk_size, drop_last=skip_remainder_batch)
        super().__init__(groups_of(iterable, chunk_size, drop_last=skip_remainder_batch), start, total)
        self.offset = start
        self.chunk_size = chunk_size
