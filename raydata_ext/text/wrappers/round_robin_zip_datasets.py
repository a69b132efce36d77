"""Several datasets side by side, as long as the longest."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.contract.sizes import position
from raydata_ext.text.filter_by_size import split_by_size
from raydata_ext.text.wrappers.aligned_datasets import AlignedDatasets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from raydata_ext.text.contract.sizes import Rows, Sizes
    from raydata_ext.text.filter_by_size import Limit

logger = logging.getLogger(__name__)


class RoundRobinZipDatasets(AlignedDatasets):
    """A row holds a row of each dataset by name; shorter datasets begin again.

    Args:
        datasets: by name.
        eval_key: a name; then items and batches are those of this dataset alone.

    Raises:
        ValueError: there are no datasets, one is empty, or `eval_key` is none of the names.
    """

    def __init__(self, datasets: Mapping[str, Any], eval_key: str | None = None) -> None:
        super().__init__(datasets)
        if eval_key is not None and eval_key not in self.datasets:
            raise ValueError(f"RoundRobinZipDatasets: eval_key is {eval_key!r}; datasets are {list(self.datasets)}")
        self.eval_key = eval_key
        self._limits: dict[str, Limit] = {}

    @override
    def __len__(self) -> int:
        return max(map(len, self._orders.values()))

    @override
    def __getitem__(self, index: SupportsIndex) -> Any:
        row = position(index, self)
        if self.eval_key is not None:
            return self.datasets[self.eval_key][self._row_of(self.eval_key, row)]
        return {key: dataset[self._row_of(key, row)] for key, dataset in self.datasets.items()}

    @override
    def collate_arrays(self, samples: Sequence[Any]) -> Any:
        """Merge items to a batch of each dataset, by name; None without items."""
        if not samples:
            return None
        if self.eval_key is not None:
            return children.collated(self.datasets[self.eval_key], samples)
        return {
            key: children.collated(dataset, [sample[key] for sample in samples])
            for key, dataset in self.datasets.items()
        }

    @override
    def sizes_at(self, rows: Rows) -> Sizes:
        return self._sizes_by_key(rows)

    @override
    def filter_indices_by_size(self, indices: ArrayLike, max_sizes: Limit) -> tuple[NDArray[np.int64], list[int]]:
        """Leave out rows of each dataset that are too long, for good: what is shorter now begins again sooner.

        Args:
            indices: has no influence, since what row each is changes.
            max_sizes: the limit of all, or limits by name.

        Returns:
            All rows that there are now, and those rows, as they were before, that held one too long.

        Raises:
            ValueError: all rows of a dataset are too long.
        """
        before = self._orders
        rows = np.arange(len(self))
        limits = max_sizes if isinstance(max_sizes, Mapping) else dict.fromkeys(self.datasets, max_sizes)
        self._limits.update(limits)
        del self._orders
        held = np.zeros(len(rows), np.bool_)
        for key, order in before.items():
            gone = np.isin(order, self._orders[key], invert=True)
            held |= gone[rows % len(order)]
            if gone.any():
                logger.warning(
                    "%d of %d rows of dataset %r are too long for %s", gone.sum(), len(gone), key, limits[key]
                )
        return np.arange(len(self)), np.flatnonzero(held).tolist()

    @override
    def _order(self, key: str) -> NDArray[np.int64]:
        order = super()._order(key)
        if key not in self._limits:
            return order
        kept, _ = split_by_size(order, self.datasets[key], self._limits[key])
        if not len(kept):
            raise ValueError(f"RoundRobinZipDatasets: all rows of dataset {key!r} are too long for {self._limits[key]}")
        return kept
