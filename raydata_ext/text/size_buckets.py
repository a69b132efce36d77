"""Bucketing: rounding sizes up to a few, so that batches have few shapes.

Source: `get_buckets` and `get_bucketed_sizes` of fairseq, whose results these are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def get_buckets(sizes: ArrayLike, num_buckets: int) -> NDArray[np.integer[Any]]:
    """Choose the sizes to round up to, so that about equally many rows go to each.

    Args:
        sizes: sizes of the rows, integers of shape (rows,).
        num_buckets: how many sizes at most.

    Returns:
        The upper ends of the buckets, ascending, shape (buckets,); the last is the largest size. Without rows there are
        no buckets.

    Raises:
        ValueError: `num_buckets` is not positive.
    """
    array = np.asarray(sizes)
    if num_buckets < 1:
        raise ValueError(f"num_buckets is {num_buckets}; it must be at least 1")
    if array.size == 0:
        return np.empty(0, np.int64)
    quantiles = np.percentile(array, np.linspace(0, 100, num_buckets + 1), method="lower")
    return np.unique(quantiles[1:])


def get_bucketed_sizes(orig_sizes: ArrayLike, buckets: ArrayLike) -> NDArray[np.integer[Any]]:
    """Round each size up to the upper end of its bucket; sizes above the last bucket stay.

    Args:
        orig_sizes: integers of shape (rows,), none negative.
        buckets: upper ends, ascending.

    Raises:
        ValueError: a size is negative.
    """
    sizes, ends = np.array(orig_sizes), np.asarray(buckets)
    if sizes.size and sizes.min() < 0:
        position = int(sizes.argmin())
        raise ValueError(f"size {sizes[position]} at index {position} is negative")
    bucket = np.searchsorted(ends, sizes)
    inside = bucket < len(ends)
    sizes = sizes.astype(np.result_type(sizes, ends), copy=False) if inside.any() else sizes
    sizes[inside] = ends[bucket[inside]]
    return sizes
