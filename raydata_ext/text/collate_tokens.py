"""Rows of tokens of different lengths to one padded matrix, without a loop over the rows.

The rows are joined to one array, and a mask says where in the matrix its tokens go: one copy for each, however many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from raydata_ext.text.contract.tensors import dtype_of_batch, tensor_kind, to_array, to_tensors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray


class Ragged(NamedTuple):
    """Rows of different lengths, one after the other.

    Args:
        tokens: those of all rows, shape (tokens,).
        lengths: tokens of each row, int64 of shape (rows,).
    """

    tokens: NDArray[Any]
    lengths: NDArray[np.int64]

    def lengths_without(self, token: int) -> NDArray[np.int64]:
        """Return how many other tokens are in each row, shape (rows,)."""
        places = np.flatnonzero(self.tokens == token)
        if not len(places):
            return self.lengths
        rows = np.searchsorted(np.cumsum(self.lengths), places, side="right")
        return self.lengths - np.bincount(rows, minlength=len(self.lengths))

    def shifted(self, first: int | None) -> Ragged:
        """Return the rows moved by one: each begins with `first`, or with its last token, and loses that at the end."""
        ends = np.cumsum(self.lengths)[self.lengths > 0]
        tokens = np.empty_like(self.tokens)
        tokens[1:] = self.tokens[:-1]
        starts = np.concatenate(([0], ends[:-1]))[: len(ends)]
        tokens[starts] = self.tokens[ends - 1] if first is None else first
        return Ragged(tokens, self.lengths)


class Padding(NamedTuple):
    """How rows are filled up.

    Args:
        pad_idx: the token to fill up with.
        left: whether in front of the tokens instead of after them.
        to_length: width of the matrix at least.
        to_multiple: of what the width is made a multiple.
    """

    pad_idx: int
    left: bool = False
    to_length: int | None = None
    to_multiple: int = 1

    def width(self, lengths: NDArray[np.int64]) -> int:
        """Return the width of a matrix of rows of these lengths."""
        width = max(int(lengths.max(initial=0)), self.to_length or 0)
        return -(-width // self.to_multiple) * self.to_multiple

    def mask(self, lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return where in the matrix tokens are, shape (rows, width)."""
        columns = np.arange(self.width(lengths), dtype=np.int32)
        filled = lengths.astype(np.int32)[:, None]
        return columns >= len(columns) - filled if self.left else columns < filled

    def fill(self, tokens: NDArray[Any], mask: NDArray[np.bool_], dtype: DTypeLike) -> NDArray[Any]:
        """Return the matrix of tokens that belong where the mask says."""
        matrix = np.full(mask.shape, self.pad_idx, dtype)
        matrix[mask] = tokens
        return matrix

    def extended(self, tokens: NDArray[Any], length: int) -> NDArray[Any]:
        """Return a single row, filled up to a length; a longer one as it is."""
        if len(tokens) >= length:
            return tokens
        filling = np.full(length - len(tokens), self.pad_idx, tokens.dtype)
        return np.concatenate((filling, tokens) if self.left else (tokens, filling))


def collate_tokens(
    values: Sequence[Any],
    pad_idx: int,
    eos_idx: int | None = None,
    left_pad: bool = False,
    move_eos_to_beginning: bool = False,
    pad_to_length: int | None = None,
    pad_to_multiple: int = 1,
    pad_to_bsz: int | None = None,
    *,
    return_tensors: str | None = None,
) -> Any:
    """Merge rows of tokens to a padded matrix.

    Args:
        values: arrays or tensors of shape (tokens,), one at least.
        pad_idx: the token to fill up with.
        eos_idx: what `move_eos_to_beginning` puts first; None is the last token of each row.
        left_pad: fill up in front of the tokens instead of after them.
        move_eos_to_beginning: move the rows by one, so that each begins with the end of sentence.
        pad_to_length: width at least.
        pad_to_multiple: of what the width is made a multiple.
        pad_to_bsz: rows at least; those added are all padding.
        return_tensors: "np", "pt", or None for torch tensors where torch is installed.

    Returns:
        Shape (rows, width), of the type of the first value; int64 where that is uint16 or uint32.

    Raises:
        ValueError: there are no values, or `pad_to_multiple` is not positive.

    Source: `collate_tokens` of fairseq.
    """
    if pad_to_multiple < 1:
        raise ValueError(f"pad_to_multiple is {pad_to_multiple}; it must be at least 1")
    rows = ragged(values)
    if move_eos_to_beginning:
        rows = rows.shifted(eos_idx)
    tokens, lengths = rows
    if pad_to_bsz is not None and pad_to_bsz > len(lengths):
        lengths = np.append(lengths, np.zeros(pad_to_bsz - len(lengths), np.int64))
    padding = Padding(pad_idx, left_pad, pad_to_length, pad_to_multiple)
    matrix = padding.fill(tokens, padding.mask(lengths), dtype_of_batch(to_array(values[0]).dtype))
    return to_tensors(matrix, tensor_kind(return_tensors))


def ragged(values: Sequence[Any]) -> Ragged:
    """Join rows, arrays or tensors of shape (tokens,).

    Raises:
        ValueError: there are none.
    """
    if not values:
        raise ValueError("there are no rows to collate; a batch has one at least")
    if not isinstance(values[0], np.ndarray):
        values = [to_array(value) for value in values]
    return Ragged(np.concatenate(values), np.fromiter(map(len, values), np.int64, len(values)))
