"""A dataset whose rows are drawn anew in each epoch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract.sizes import sort_by_size
from raydata_ext.text.wrappers.reindexed_dataset import ReindexedDataset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

MAGIC = 42
"""What fairseq seeds its draws with, besides seed and epoch."""


class ResamplingDataset(ReindexedDataset):
    """Rows drawn at random, those that fairseq draws.

    Args:
        dataset: the child.
        weights: how likely each row is, relative to others; None is equally.
        replace: whether a row may be drawn more than once.
        size_ratio: number of rows drawn, relative to the child's; rounded up.
        batch_by_size: whether batches are cut from rows sorted by size.
        seed: of the draws.
        epoch: the first epoch.

    Raises:
        ValueError: the ratio is not positive, or not below 1 without replacement; or weights are no weights.
    """

    def __init__(
        self,
        dataset: Any,
        weights: ArrayLike | None = None,
        replace: bool = True,
        size_ratio: float = 1.0,
        batch_by_size: bool = True,
        seed: int = 0,
        epoch: int = 1,
    ) -> None:
        super().__init__(dataset)
        if size_ratio <= 0 or (not replace and size_ratio >= 1):
            raise ValueError(
                f"ResamplingDataset: size_ratio is {size_ratio}; it must be positive, "
                "and below 1 where rows are not replaced"
            )
        self.weights = None if weights is None else _normalised(weights, len(dataset))
        self.replace = replace
        self.size_ratio = size_ratio
        self.actual_size = math.ceil(len(dataset) * size_ratio)
        self.by_size = batch_by_size
        self.seed = seed
        self._draw(epoch)

    @property
    @override
    def indices(self) -> NDArray[np.int64]:
        return self._indices

    @property
    @override
    def can_reuse_epoch_itr_across_epochs(self) -> bool:
        return False

    @override
    def set_epoch(self, epoch: int) -> None:
        is_new = epoch != self.epoch
        super().set_epoch(epoch)
        if is_new:
            self._draw(epoch)

    @override
    def ordered_indices(self) -> NDArray[np.int64]:
        rows = np.arange(len(self))
        return sort_by_size(rows, self.sizes) if self.by_size else rows

    def _draw(self, epoch: int) -> None:
        self.epoch = epoch
        random = np.random.RandomState([MAGIC, self.seed % 2**32, epoch])
        count = len(self.dataset)
        drawn = random.choice(count, self.actual_size, self.replace, self.weights) if count else ()
        self._indices = np.asarray(drawn, np.int64)


def _normalised(weights: ArrayLike | Sequence[float], rows: int) -> NDArray[np.float64]:
    array = np.array(weights, np.float64)
    if array.shape != (rows,) or (array < 0).any() or not np.isfinite(array).all() or (rows and not array.any()):
        raise ValueError(
            f"ResamplingDataset: weights of shape {array.shape} for {rows} rows; "
            "give one a row, none negative, not all of them 0"
        )
    array /= array.sum()
    return array
