"""Where blocks of tokens begin and end in a corpus, computed from the lengths of its items alone.

Positions count tokens from the beginning of the corpus. A block is given by two of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raydata_ext.text.contract.sizes import IntArray

BreakMode = Literal["none", "complete", "complete_doc", "eos"]


def block_slices(
    sizes: IntArray, break_mode: str | None, block_size: int | None, document_sep_len: int = 1
) -> NDArray[np.int64]:
    """Return where blocks begin and end.

    Args:
        sizes: tokens of each item, shape (items,).
        break_mode: "none" or None cuts every `block_size` tokens. "complete" takes as many whole items as fit; an item
            that is longer is a block of its own. "complete_doc" does so within a document; an item of
            `document_sep_len` tokens ends one and is in no block, nor is a piece of a single token. "eos" makes each
            item a block.
        block_size: tokens of a block at most; not needed for "eos".
        document_sep_len: see there.

    Returns:
        First and end position of each block, int64 of shape (blocks, 2). Only "eos" gives empty blocks.

    Raises:
        ValueError: there is no such mode, or it needs a block size.
    """
    mode = "none" if break_mode is None else break_mode
    if mode not in get_args(BreakMode):
        raise ValueError(f"Invalid break_mode: {mode}; it must be one of {', '.join(get_args(BreakMode))}")
    ends = np.cumsum(sizes, dtype=np.int64)
    if mode == "eos":
        return np.stack([ends - sizes, ends], axis=1)
    if block_size is None or block_size < 1:
        raise ValueError(f"block_size is {block_size}; break_mode {mode!r} needs one of at least 1")
    if mode == "none":
        total = int(ends[-1]) if len(ends) else 0
        starts = np.arange(0, total, block_size, dtype=np.int64)
        return np.stack([starts, np.minimum(starts + block_size, total)], axis=1)
    if mode == "complete":
        return _whole_items(ends, block_size, np.zeros(len(ends), np.bool_), min_tokens=1)
    return _whole_items(ends, block_size, np.asarray(sizes) == document_sep_len, min_tokens=2)


def block_items(
    sizes: IntArray, slices: NDArray[np.int64], break_mode: str | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return which items blocks are in.

    Args:
        sizes: tokens of each item, shape (items,).
        slices: what `block_slices` returned.
        break_mode: how they were cut.

    Returns:
        For each block the item that its first token is in, the position of that token in the item, and the item that
        its last token is in; each of shape (blocks,).
    """
    if break_mode == "eos":
        items = np.arange(len(sizes), dtype=np.int64)
        return items, np.zeros_like(items), items
    ends = np.cumsum(sizes, dtype=np.int64)
    first = np.searchsorted(ends, slices[:, 0], side="right")  # of items that end there, the last ones are empty
    last = np.searchsorted(ends, slices[:, 1] - 1, side="right")
    return first, slices[:, 0] - (ends[first] - np.asarray(sizes)[first]), last


def _whole_items(
    ends: NDArray[np.int64], block_size: int, separators: NDArray[np.bool_], *, min_tokens: int
) -> NDArray[np.int64]:
    """Return blocks of whole items, none of them across a separator, which is in no block.

    Where a block ends depends on where it begins only. So the end is computed for a block from every item at once, and
    then followed from block to block.

    Args:
        ends: position after each item, shape (items,).
        block_size: tokens of a block at most, unless it is a single item.
        separators: which items are separators, shape (items,).
        min_tokens: blocks of fewer are left out.
    """
    count = len(ends)
    bounds = np.concatenate(([0], ends))
    separator_items = np.append(np.flatnonzero(separators), count)
    stops = separator_items[np.searchsorted(separator_items, np.arange(count))]
    fitting = np.searchsorted(bounds, bounds[:-1] + block_size, side="right") - 1
    following = np.maximum(np.minimum(fitting, stops), np.arange(1, count + 1))
    step = following.item
    starts = []
    item = 0
    while item < count:
        starts.append(item)
        item = step(item)
    first = np.array(starts, np.int64)
    slices = np.stack([bounds[first], bounds[following[first]]], axis=1)
    kept = ~separators[first] & (slices[:, 1] - slices[:, 0] >= min_tokens)
    return np.compress(kept, slices, axis=0)
