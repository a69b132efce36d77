"""Items of different lengths that are filled up in a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.text.collate_tokens import Padding, ragged
from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class PadDataset(BaseWrapperDataset):
    """A batch is a matrix, int64 of shape (rows, width) where items are tokens.

    Args:
        dataset: the child, of arrays of shape (length,).
        pad_idx: what rows are filled up with.
        left_pad: whether in front instead of at the end.
        pad_length: width at least.
    """

    def __init__(self, dataset: Any, pad_idx: int, left_pad: bool, pad_length: int | None = None) -> None:
        super().__init__(dataset)
        self.pad_idx = pad_idx
        self.left_pad = left_pad
        self.pad_length = pad_length

    @override
    def collate_arrays(self, samples: Sequence[Any]) -> NDArray[Any]:
        tokens, lengths = ragged(samples)
        padding = Padding(self.pad_idx, self.left_pad, self.pad_length)
        dtype = np.int64 if tokens.dtype.kind in "iu" else tokens.dtype
        return padding.fill(tokens, padding.mask(lengths), dtype)


class LeftPadDataset(PadDataset):
    """See `PadDataset`; rows are filled up in front."""

    def __init__(self, dataset: Any, pad_idx: int, pad_length: int | None = None) -> None:
        super().__init__(dataset, pad_idx, left_pad=True, pad_length=pad_length)


class RightPadDataset(PadDataset):
    """See `PadDataset`; rows are filled up at the end."""

    def __init__(self, dataset: Any, pad_idx: int, pad_length: int | None = None) -> None:
        super().__init__(dataset, pad_idx, left_pad=False, pad_length=pad_length)
