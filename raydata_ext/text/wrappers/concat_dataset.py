"""Datasets one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.contract.parent_dataset import ParentDataset
from raydata_ext.text.contract.sizes import position, sort_by_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from raydata_ext.text.contract.sizes import IntArray, Rows


class ConcatDataset(ParentDataset):
    """The rows of all datasets, each as often as its ratio says.

    Args:
        datasets: one at least, alike: the first one collates for all.
        sample_ratios: how many rows a dataset gives, relative to those it has (rounded down); one number for all, or
            one for each. Above 1, its rows come again from the first.

    Raises:
        ValueError: there are no datasets, not as many ratios, or a negative one.
    """

    def __init__(self, datasets: Iterable[Any], sample_ratios: float | Sequence[float] = 1) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("ConcatDataset: there are no datasets to concatenate; give one at least")
        ratios = [sample_ratios] * len(self.datasets) if isinstance(sample_ratios, int | float) else list(sample_ratios)
        if len(ratios) != len(self.datasets) or min(ratios) < 0:
            raise ValueError(f"ConcatDataset: sample_ratios are {ratios}; {len(self.datasets)} not negative are needed")
        self.sample_ratios = ratios
        self.real_sizes = [len(dataset) for dataset in self.datasets]
        rows = [int(ratio * length) for ratio, length in zip(ratios, self.real_sizes, strict=True)]
        self.cumulative_sizes: list[int] = np.cumsum(rows, dtype=np.int64).tolist()

    @property
    @override
    def children(self) -> Sequence[Any]:
        return self.datasets

    @override
    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    @override
    def __getitem__(self, index: SupportsIndex) -> Any:
        which, row = self._place(index)
        return self.datasets[which][row]

    @override
    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        items: list[Any] = [None] * len(indices)
        for which, places, rows in self._places(np.array([position(index, self) for index in indices], np.int64)):
            for place, item in zip(places, children.items_of(self.datasets[which], rows.tolist()), strict=True):
                items[place] = item
        return items

    @override
    def collate_arrays(self, samples: Sequence[Any]) -> Any:
        return children.collated(self.datasets[0], samples)

    @override
    def sizes_at(self, rows: Rows) -> IntArray:
        numbers = np.arange(len(self))[rows]
        places = self._places(numbers)
        sizes = [children.lengths_of(self.datasets[which], part, sides=True) for which, _, part in places]
        if not sizes:
            return np.zeros(0, np.int64)
        order = np.argsort(np.concatenate([place for _, place, _ in places]))
        return np.concatenate(sizes)[order]

    @override
    def ordered_indices(self) -> NDArray[np.int64]:
        """Return rows from short to long."""
        return sort_by_size(np.arange(len(self)), self.sizes)

    @override
    def prefetch(self, indices: ArrayLike) -> None:
        for which, _, rows in self._places(np.asarray(indices, np.int64)):
            children.prefetch(self.datasets[which], rows)

    @override
    def attr(self, attr: str, index: SupportsIndex) -> Any:
        which, row = self._place(index)
        return children.attr_of(self.datasets[which], attr, row)

    def _place(self, index: SupportsIndex) -> tuple[int, int]:
        ((which, _, rows),) = self._places(np.array([position(index, self)], np.int64))
        return which, int(rows[0])

    def _places(self, numbers: NDArray[np.int64]) -> list[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
        """Return which rows are in which dataset: its number, places in `numbers`, rows of the dataset."""
        ends = np.array(self.cumulative_sizes)
        which = np.searchsorted(ends, numbers, side="right")
        found = []
        for dataset in np.unique(which).tolist():
            places = np.flatnonzero(which == dataset)
            start = self.cumulative_sizes[dataset - 1] if dataset else 0
            found.append((dataset, places, (numbers[places] - start) % self.real_sizes[dataset]))
        return found
