"""`CountingIterator`: an iterator that knows how many elements it gave, and whether there are more."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")


class CountingIterator(Iterator[T], Generic[T]):
    """Counts the elements of an iterable as they are taken.

    Args:
        iterable: the elements; an iterator goes on where it is.
        start: the count to begin with; None is that of `iterable` where it counts too, else 0.
        total: the count to end with; None is what `iterable` tells by its length, and where it has none, open.

    Attributes:
        n: the count, also called `count`.
        total: as above; None where it is open.
    """

    def __init__(self, iterable: Iterable[T], start: int | None = None, total: int | None = None) -> None:
        self.iterable = iterable
        self._itr = iter(iterable)
        self.n = int(getattr(iterable, "n", 0)) if start is None else start
        left = remaining(iterable)
        self._is_open = total is None and left is None
        self.total = self.n + left if total is None and left is not None else total

    @property
    def count(self) -> int:
        """The count so far."""
        return self.n

    def __len__(self) -> int:
        """The count at the end: what was counted before, and all elements."""
        if self.total is None:
            raise TypeError(f"{type(self).__name__} over {type(self.iterable).__name__}: its length is not known")
        return self.total

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        if self.total is not None and self.n >= self.total:
            raise StopIteration
        try:
            element = next(self._itr)
        except StopIteration:
            if self._is_open:
                raise
            raise IndexError(
                f"{type(self).__name__} expected to have length {self.total}, but exhausted at position {self.n}"
            ) from None
        self.n += 1
        return element

    def has_next(self) -> bool:
        """Whether there are more elements. Where the length is open, one is read ahead to tell."""
        if self.total is not None and self.n >= self.total:
            return False
        if not self._is_open:
            return True
        for element in self._itr:
            self._itr = itertools.chain([element], self._itr)
            return True
        return False

    def skip(self, num_to_skip: int) -> Self:
        """Pass over elements, as far as there are any; they count."""
        for _ in itertools.islice(self, num_to_skip):
            pass
        return self

    def take(self, n: int) -> Self:
        """End at a count of `n`, if not before."""
        self.total = n if self.total is None else min(self.total, n)
        return self


def remaining(iterable: Iterable[Any]) -> int | None:
    """How many elements an iterable still has; None where it does not tell."""
    try:
        length = len(iterable)  # type: ignore[arg-type]  # that is the question
    except TypeError:
        return None
    return max(0, length - iterable.n) if isinstance(iterable, CountingIterator) else length


def groups_of(iterable: Iterable[T], size: int, *, drop_last: bool) -> Iterator[list[T]]:
    """Elements in lists of `size`; the last may be shorter, or is left out."""
    elements = iter(iterable)
    while group := list(itertools.islice(elements, size)):
        if len(group) == size or not drop_last:
            yield group


def count_of_groups(elements: int, size: int, *, drop_last: bool) -> int:
    """How many lists `groups_of` gives."""
    return elements // size if drop_last else -(-elements // size)
