"""Cutting ordered rows into batches that keep within a number of tokens and of sentences.

What a batch costs is its number of rows times its longest row, since all are padded to that. So each row says how many
rows a batch may have that it is part of, its *limit*: `max_tokens // size`, `max_sentences`, or what a fixed shape
holds. A batch is the longest run of rows that has no more rows than the limit of any of them. Where it ends depends on
where it begins and on nothing before.

Source: `batch_by_size` of fairseq, main branch. The batches are equal to those of `batch_by_size_vec` there, save that
no row is dropped at the end.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raydata_ext.text.batches import Batches

FixedShapes = Sequence[tuple[int | None, int]] | NDArray[np.integer[Any]]

BLOCK_ROWS = 1 << 15
SMALL_BATCH = 64
"""Batches of up to this many rows are found for all rows of a block at once, larger ones one by one."""
NO_LIMIT = np.iinfo(np.int32).max


def batch_by_size(
    indices: ArrayLike | Iterable[int],
    num_tokens_fn: Callable[[int], int] | None = None,
    num_tokens_vec: ArrayLike | None = None,
    max_tokens: int | None = None,
    max_sentences: int | None = None,
    required_batch_size_multiple: int = 1,
    fixed_shapes: FixedShapes | None = None,
) -> Batches:
    """Cut ordered rows into batches.

    Each batch takes as many of the next rows as fit; where these are more than `required_batch_size_multiple`, so many
    that they are a multiple of it. Every row is in one batch, in the order of `indices`.

    Args:
        indices: row numbers in the order in which they are cut, shape (rows,), any integer dtype, which is kept.
        num_tokens_fn: gives the size in tokens of a row number; called once a row where there is no `num_tokens_vec`.
        num_tokens_vec: the sizes, in the order of `indices`, shape (rows,).
        max_tokens: tokens of a batch with padding at most; None or -1 is any number.
        max_sentences: rows of a batch at most; None or -1 is any number.
        required_batch_size_multiple: of what the number of rows of a batch should be a multiple.
        fixed_shapes: the shapes that batches may have, each (rows, tokens of a row). A batch counts as the shortest one
            that its longest row fits in. Where rows are None they are `max_tokens` // tokens.

    Raises:
        ValueError: a row is longer than `max_tokens` or than any fixed shape; the message gives its number, its size
            and the limit. Or arguments do not go together.
    """
    if required_batch_size_multiple < 1:
        raise ValueError(f"required_batch_size_multiple is {required_batch_size_multiple}; it must be at least 1")
    rows = _integers("indices", indices)
    max_tokens, max_sentences = _positive("max_tokens", max_tokens), _positive("max_sentences", max_sentences)
    shapes = None if fixed_shapes is None else _shapes(fixed_shapes, max_tokens)
    if shapes is None and max_tokens is None:
        limits = np.full(len(rows), NO_LIMIT, np.int32)
    else:
        limits = _limits(rows, _sizes(rows, num_tokens_fn, num_tokens_vec), max_tokens, shapes)
    np.minimum(limits, min(max_sentences or NO_LIMIT, NO_LIMIT), out=limits)
    return Batches(rows, _boundaries(limits, required_batch_size_multiple))


def _integers(name: str, values: ArrayLike | Iterable[int]) -> NDArray[np.integer[Any]]:
    array: NDArray[Any] = np.asarray(values if hasattr(values, "__len__") else list(values))  # type: ignore[arg-type]
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be integers of shape (rows,), got {array.dtype} of shape {array.shape}")
    return array


def _positive(name: str, value: int | None) -> int | None:
    if value is None or value == -1:
        return None
    if value < 1:
        raise ValueError(f"{name} is {value}; it must be at least 1, or None for any number")
    return int(value)


def _sizes(
    rows: NDArray[np.integer[Any]], num_tokens_fn: Callable[[int], int] | None, num_tokens_vec: ArrayLike | None
) -> NDArray[np.integer[Any]]:
    if num_tokens_vec is not None:
        sizes = _integers("num_tokens_vec", num_tokens_vec)
        if len(sizes) != len(rows):
            raise ValueError(f"num_tokens_vec has {len(sizes)} sizes for {len(rows)} indices")
        return sizes
    if num_tokens_fn is None:
        raise ValueError("max_tokens and fixed_shapes need num_tokens_vec or num_tokens_fn")
    return np.fromiter(map(num_tokens_fn, rows.tolist()), dtype=np.int64, count=len(rows))


def _shapes(fixed_shapes: FixedShapes, max_tokens: int | None) -> NDArray[np.int64]:
    """The shapes as (rows, tokens), shortest first; of those of one length only the one with most rows counts."""
    shapes: list[tuple[int, int]] = []
    for given_rows, tokens in fixed_shapes:
        if given_rows is None and max_tokens is None:
            raise ValueError(f"fixed shape ({given_rows}, {tokens}) leaves its rows open; that needs max_tokens")
        rows = (max_tokens or 0) // tokens if given_rows is None else int(given_rows)
        if rows < 1:
            raise ValueError(f"fixed shape ({given_rows}, {tokens}) holds no row with max_tokens={max_tokens}")
        shapes.append((int(tokens), rows))
    if not shapes:
        raise ValueError("fixed_shapes is empty; give one shape or None")
    return np.array([[rows, tokens] for tokens, rows in sorted(dict(sorted(shapes)).items())], np.int64)


def _limits(
    rows: NDArray[np.integer[Any]],
    sizes: NDArray[np.integer[Any]],
    max_tokens: int | None,
    shapes: NDArray[np.int64] | None,
) -> NDArray[np.int32]:
    """How many rows a batch may have with each row in it; block by block, so that little is in memory at a time."""
    longest = int(shapes[-1, 1]) if shapes is not None else int(max_tokens or 0)
    limits = np.empty(len(rows), np.int32)
    for start in range(0, len(rows), BLOCK_ROWS):
        block = sizes[start : start + BLOCK_ROWS]
        if int(block.max()) > longest:
            position = start + int(np.argmax(block > longest))
            limit = f"max_tokens limit of {longest}" if shapes is None else f"longest fixed shape of {longest} tokens"
            raise ValueError(
                f"sentence at index {rows[position]} of size {sizes[position]} exceeds {limit}!"
                " Leave such rows out with filter_by_size, or raise the limit"
            )
        if shapes is not None:
            allowed = shapes[np.searchsorted(shapes[:, 1], block), 0]
        else:
            allowed = np.where(block > 0, longest // np.maximum(block, 1, dtype=np.int64), NO_LIMIT)
        limits[start : start + BLOCK_ROWS] = np.minimum(allowed, NO_LIMIT)
    return limits


def _boundaries(limits: NDArray[np.int32], multiple: int) -> NDArray[np.int64]:
    """0 and the end of each batch."""
    total, start, count = len(limits), 0, 1
    ends = array("q", [start])
    steps, first, block_end = b"", 0, 0
    while start < total:
        if start >= block_end and count <= SMALL_BATCH // 2:
            steps, first = _small_steps(limits[start : start + BLOCK_ROWS + SMALL_BATCH], multiple), start
            block_end = first + len(steps)
        while start < block_end and (step := steps[start - first]):
            start += step
            ends.append(start)
        if start < total:
            count = _search(limits, start, count)
            start += count - count % multiple if count > multiple else count
            ends.append(start)
    return np.frombuffer(ends, np.int64)


def _small_steps(limits: NDArray[np.int32], multiple: int) -> bytes:
    """How many rows a batch gets that begins at each row of a block, or 0 where it could have `SMALL_BATCH` or more.

    A batch that begins at i can take row j if it has no more rows than `limits[j]`, so it ends at the lowest of
    max(j, i + limits[j]).
    """
    block = np.minimum(limits, SMALL_BATCH).astype(np.uint8)
    counts = block.copy()
    for ahead in range(1, int(block.max())):
        np.minimum(counts[:-ahead], np.maximum(block[ahead:], ahead), out=counts[:-ahead])
    counts = counts[:BLOCK_ROWS]
    left = np.minimum(len(limits) - np.arange(len(counts)), SMALL_BATCH)
    small = counts < SMALL_BATCH
    counts = np.minimum(counts, left.astype(np.uint8))
    rounded = np.where(counts > multiple, counts - counts % min(multiple, SMALL_BATCH), counts)
    steps: NDArray[np.uint8] = rounded * small
    return steps.tobytes()


def _search(limits: NDArray[np.int32], start: int, expected: int) -> int:
    """How many rows the batch takes that begins at `start`, looked for in a window that doubles."""
    width = max(SMALL_BATCH, expected + expected // 2)
    while True:
        window = limits[start : start + width]
        too_many = np.minimum.accumulate(window) < _positions(len(window))
        count = int(too_many.argmax())
        if too_many[count]:
            return count
        if start + width >= len(limits):
            return len(window)
        width *= 2


_FIRST_POSITIONS = np.arange(1, 1 + (1 << 16), dtype=np.int32)


def _positions(count: int) -> NDArray[np.integer[Any]]:
    """1, 2, ... `count`."""
    return _FIRST_POSITIONS[:count] if count <= len(_FIRST_POSITIONS) else np.arange(1, 1 + count)
