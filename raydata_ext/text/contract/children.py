"""How a wrapper asks the dataset that it wraps, its child.

A child need not honour the whole contract: anything with rows by number can be wrapped, such as a list or a torch
dataset, and one that collates to torch tensors as well as one that gives arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from raydata_ext.text.contract.default_collate import default_collate
from raydata_ext.text.contract.fairseq_dataset import FairseqDataset
from raydata_ext.text.contract.sizes import Rows, Sizes, as_sizes
from raydata_ext.text.contract.tensors import to_arrays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


def items_of(child: Any, indices: Sequence[int]) -> list[Any]:
    """Return some items of a child, at once where it can."""
    if hasattr(child, "__getitems__"):
        items: list[Any] = child.__getitems__(indices)
        return items
    return [child[index] for index in indices]


def collated(child: Any, samples: Sequence[Any]) -> Any:
    """Return the batch that a child makes of items, in numpy arrays."""
    if isinstance(child, FairseqDataset) and type(child).collater is FairseqDataset.collater:
        return child.collate_arrays(samples)
    if hasattr(child, "collater"):
        return to_arrays(child.collater(samples))
    return default_collate(samples)


def sizes_of(child: Any, rows: Rows) -> Sizes:
    """Return the sizes of some rows of a child.

    Raises:
        TypeError: it does not know them.
    """
    if hasattr(child, "sizes_at"):
        sizes: Sizes = child.sizes_at(rows)
        return sizes
    if getattr(child, "sizes", None) is None:
        raise TypeError(f"{type(child).__name__} does not know the sizes of its rows; give it an attribute `sizes`")
    return as_sizes(child.sizes, child)[rows]


def lengths_of(child: Any, rows: Rows, *, sides: bool = False) -> NDArray[np.int64]:
    """Return the sizes of some rows of a child as numbers to compute with.

    Args:
        child: a dataset with one length a row.
        rows: which rows.
        sides: whether it may have several.

    Returns:
        Shape (n,), or (n, sides) if it has several.

    Raises:
        TypeError: it has several, or sizes by name, or does not know them.
    """
    sizes = sizes_of(child, rows)
    if not isinstance(sizes, np.ndarray) or (sizes.ndim > 1 and not sides):
        raise TypeError(f"{type(child).__name__} has several sizes a row; a dataset of tokens is needed, with one")
    return sizes.astype(np.int64, copy=False)


def order_of(child: Any) -> NDArray[np.int64]:
    """Return the order that a child gives its rows."""
    if hasattr(child, "ordered_indices"):
        return np.asarray(child.ordered_indices(), np.int64)
    return np.arange(len(child))


def supports_prefetch(child: Any) -> bool:
    """Tell whether a child wants to know beforehand which rows are needed."""
    return bool(getattr(child, "supports_prefetch", False))


def prefetch(child: Any, indices: ArrayLike) -> None:
    """Tell a child that wants to know which rows will be needed."""
    if supports_prefetch(child):
        child.prefetch(indices)


def set_epoch(child: Any, epoch: int) -> None:
    """Tell a child that wants to know of the epoch."""
    if hasattr(child, "set_epoch"):
        child.set_epoch(epoch)


def attr_of(child: Any, attr: str, index: int) -> Any:
    """Return an attribute of the dataset that a row of a child is in, None if it has none."""
    return child.attr(attr, index) if hasattr(child, "attr") else getattr(child, attr, None)


def can_reuse_batches(child: Any) -> bool:
    """Tell whether batches of a child stay right from epoch to epoch."""
    return bool(getattr(child, "can_reuse_epoch_itr_across_epochs", True))
