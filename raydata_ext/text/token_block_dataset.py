"""A corpus as blocks of tokens, cut regardless of items or between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.contract.parent_dataset import ParentDataset
from raydata_ext.text.contract.sizes import as_sizes, position
from raydata_ext.text.contract.tensors import to_tokens
from raydata_ext.text.token_blocks import block_items, block_slices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

CONTEXT = 2
"""Tokens in front of a block that targets reach back to."""


class TokenBlockDataset(ParentDataset):
    """Blocks of the tokens of a dataset.

    An item is an array of tokens; with `include_targets` a triple of arrays of equal length: the source (each token's
    predecessor), the future (the tokens), and the past (the predecessor of the predecessor). In front of an item of the
    child there is an end of sentence, and before that padding.

    Args:
        dataset: the child, of tokens.
        sizes: lengths of its rows; None for what it says.
        block_size: tokens of a block at most, see `block_slices`.
        pad: the padding symbol.
        eos: the end of sentence.
        break_mode: see `block_slices`.
        include_targets: whether items are triples.
        document_sep_len: see `block_slices`.

    Raises:
        ValueError: there are not as many sizes as rows, or see `block_slices`.
    """

    def __init__(
        self,
        dataset: Any,
        sizes: Any,
        block_size: int | None,
        pad: int,
        eos: int,
        break_mode: str | None = None,
        include_targets: bool = False,
        document_sep_len: int = 1,
    ) -> None:
        self.dataset = dataset
        self.pad = pad
        self.eos = eos
        self.include_targets = include_targets
        lengths = children.lengths_of(dataset, slice(None)) if sizes is None else as_sizes(sizes, self)
        if lengths.shape != (len(dataset),):
            raise ValueError(
                f"TokenBlockDataset: {len(dataset)} rows, but sizes of shape {lengths.shape}; give one a row"
            )
        slices = block_slices(lengths, break_mode, block_size, document_sep_len)
        self._first, self._offset, self._last = block_items(lengths, slices, break_mode)
        self.sizes = slices[:, 1] - slices[:, 0]
        self._stop = self._offset + self.sizes

    @property
    @override
    def children(self) -> Sequence[Any]:
        return (self.dataset,)

    @override
    def __len__(self) -> int:
        return len(self._first)

    @override
    def __getitem__(self, index: SupportsIndex) -> Any:
        block = position(index, self)
        offset = int(self._offset[block])
        reach = min(CONTEXT, offset) if self.include_targets else 0
        tokens = self._read(block, offset - reach)
        if not self.include_targets:
            return tokens
        future = tokens[reach:]
        context = np.concatenate(([self.pad, self.eos], tokens[:reach]))[-CONTEXT:]
        shifted = np.concatenate((context, future))
        return shifted[1:-1], future, shifted[:-2]

    @override
    def prefetch(self, indices: ArrayLike) -> None:
        blocks = np.asarray(indices, np.int64)
        items = [np.arange(self._first[block], self._last[block] + 1) for block in blocks]
        children.prefetch(self.dataset, np.unique(np.concatenate([np.empty(0, np.int64), *items])))

    @override
    def attr(self, attr: str, index: SupportsIndex) -> Any:
        return children.attr_of(self.dataset, attr, int(self._first[position(index, self)]))

    def _read(self, block: int, offset: int) -> NDArray[np.int64]:
        """Return the tokens from an offset in the block's first item up to the block's end."""
        first, last = int(self._first[block]), int(self._last[block])
        stop = int(self._stop[block])
        missing = stop - offset
        parts = []
        for item in range(first, last + 1):
            tokens = to_tokens(self.dataset[item])
            parts.append(tokens[offset:stop])
            missing -= len(parts[-1])
            stop -= len(tokens)
            offset = 0
        if missing:
            raise ValueError(
                f"TokenBlockDataset: block {block} lacks {missing} tokens: items {first} to {last} are not as long as "
                "the sizes say"
            )
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
