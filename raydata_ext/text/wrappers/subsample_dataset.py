"""A random part of a dataset, the same in each epoch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract.seeds import fairseq_random_state
from raydata_ext.text.contract.sizes import sort_by_size
from raydata_ext.text.wrappers.reindexed_dataset import ReindexedDataset

if TYPE_CHECKING:
    from numpy.typing import NDArray


class SubsampleDataset(ReindexedDataset):
    """Rows drawn without replacement.

    Args:
        dataset: the child.
        size_ratio: which part of the rows, below 1; their number is rounded up.
        shuffle: whether rows of equal sizes come in random order.
        seed: of all draws.

    Raises:
        ValueError: the ratio is not from 0 to below 1.
    """

    def __init__(self, dataset: Any, size_ratio: float, shuffle: bool = False, *, seed: int = 1) -> None:
        if not 0 <= size_ratio < 1:
            raise ValueError(f"SubsampleDataset: size_ratio is {size_ratio}; it must be at least 0 and below 1")
        super().__init__(dataset)
        self.shuffle = shuffle
        self.seed = seed
        count = math.ceil(len(dataset) * size_ratio)
        self._indices = fairseq_random_state(seed).permutation(len(dataset))[:count]

    @property
    @override
    def indices(self) -> NDArray[np.int64]:
        return self._indices

    @override
    def ordered_indices(self) -> NDArray[np.int64]:
        rows = np.arange(len(self))
        if self.shuffle:
            rows[fairseq_random_state(self.seed).permutation(len(self))] = np.arange(len(self))
        return sort_by_size(rows, self.sizes)
