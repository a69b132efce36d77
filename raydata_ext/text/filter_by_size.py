"""Leaving out rows that are longer than a model can take.

A size is a number (one sequence), a tuple (source and target) or a dict (one size a corpus), and so is a limit. Both
the size of one row and the sizes of all rows, as arrays in place of numbers, go through the one rule in `fits`.

Source: `filter_by_size` of fairseq.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

logger = logging.getLogger(__name__)

Limit: TypeAlias = "float | Sequence[float | None] | Mapping[str, Limit] | None"
"""What a size may be at most; None is anything."""

SHOWN = 10


class SizedDataset(Protocol):
    """What is asked of a dataset: the size of a row, by its number."""

    def size(self, index: int, /) -> Any:
        """The size of a row."""


def filter_by_size(
    indices: ArrayLike | Iterable[int],
    dataset: SizedDataset | Callable[[int], Any],
    max_positions: Limit,
    raise_exception: bool = False,
) -> NDArray[np.int64]:
    """Keep the rows whose size is at most `max_positions`.

    Args:
        indices: row numbers, shape (rows,).
        dataset: gives sizes: by `sizes_at(rows)` or by its array `sizes` of shape (all rows,) or (all rows, parts)
            where it has one, else by `size(index)`, row by row; or a function of the row number.
        max_positions: the limit. See `fits`.
        raise_exception: whether a row that is too long is an error.

    Returns:
        The row numbers that are kept, in their order.

    Raises:
        ValueError: a row is too long, with `raise_exception`; the message gives its number and size, and the limit.
    """
    kept, ignored = split_by_size(indices, dataset, max_positions)
    if len(ignored) and raise_exception:
        raise ValueError(
            f"Size of sample #{ignored[0]} is invalid (={_size_of(dataset, int(ignored[0]))}) since"
            f" max_positions={max_positions}; leave such samples out, or raise the limit"
        )
    if len(ignored):
        logger.warning(
            "%d samples have invalid sizes and will be skipped, max_positions=%s, first few sample ids=%s",
            len(ignored),
            max_positions,
            ignored[:SHOWN].tolist(),
        )
    return kept


def split_by_size(
    indices: ArrayLike | Iterable[int], dataset: SizedDataset | Callable[[int], Any], max_positions: Limit
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Part row numbers into those that `filter_by_size` keeps and the others; arguments as there."""
    rows = np.asarray(indices if hasattr(indices, "__len__") else list(indices), dtype=np.int64)  # type: ignore[arg-type]
    sizes = _sizes_of(dataset, rows)
    if sizes is None:
        mask = np.fromiter(
            (fits(_size_of(dataset, index), max_positions) for index in rows.tolist()), dtype=np.bool_, count=len(rows)
        )
    else:
        mask = np.broadcast_to(fits(sizes, max_positions), rows.shape)
    return rows[mask], rows[~mask]


def fits(size: Any, limit: Limit) -> Any:
    """Whether a size is within a limit; for arrays of sizes, an array of answers.

    * A number has to be at most the limit, and at most each of a tuple of limits.
    * The parts of a tuple are held against the parts of a tuple of limits, all of them against a number.
    * A dict is held against a dict by the keys that both have; against any other limit it counts as the tuple of its
      values.
    * None, in a size or in a limit, is within any limit and holds any size.

    Raises:
        TypeError: a dict of limits for a size that has no keys.
        ValueError: tuples of different lengths.
    """
    if limit is None or size is None:
        return True
    if isinstance(limit, Mapping):
        if not isinstance(size, Mapping):
            raise TypeError(f"max_positions is a dict ({dict(limit)}), but sizes are {type(size).__name__}")
        return _all(fits(size[key], limit[key]) for key in size if key in limit)
    if isinstance(size, Mapping):
        size = tuple(size.values())
    if isinstance(limit, Sequence | np.ndarray):
        if not isinstance(size, tuple | list):
            return _all(fits(size, part) for part in limit)
        if len(size) != len(limit):
            raise ValueError(f"a size of {len(size)} parts, {size}, does not go with max_positions={tuple(limit)}")
        return _all(fits(part, part_limit) for part, part_limit in zip(size, limit, strict=True))
    if isinstance(size, tuple | list):
        return _all(fits(part, limit) for part in size)
    return size <= limit


def _all(answers: Iterable[Any]) -> Any:
    result: Any = True
    for answer in answers:
        result = result & answer
    return result


def _sizes_of(dataset: Any, rows: NDArray[np.int64]) -> Any:
    """The sizes of some rows, with an array in place of each number; None where they are asked for one by one."""
    if hasattr(dataset, "sizes_at"):
        return _columns(dataset.sizes_at(rows))
    sizes = getattr(dataset, "sizes", None)
    return None if sizes is None else _columns(np.asarray(sizes)[rows])


def _columns(sizes: Any) -> Any:
    if isinstance(sizes, Mapping):
        return {key: _columns(part) for key, part in sizes.items()}
    return sizes if sizes.ndim == 1 else tuple(sizes.T)


def _size_of(dataset: SizedDataset | Callable[[int], Any], index: int) -> Any:
    return dataset.size(index) if hasattr(dataset, "size") else dataset(index)
