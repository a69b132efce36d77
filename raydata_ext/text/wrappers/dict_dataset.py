"""Datasets by name, side by side, as long as the shortest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.contract.parent_dataset import ParentDataset
from raydata_ext.text.contract.sizes import position

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from raydata_ext.text.contract.sizes import Rows, Sizes


class DictDataset(ParentDataset):
    """A row holds a row of each dataset by name, and a batch a batch of each.

    Batches can be cut by a number of rows even where a dataset does not know its sizes.

    Args:
        defn: datasets by name, one at least.
        sizes: not used; the datasets know.

    Raises:
        ValueError: there are no datasets.

    Source: `DictDataset` of InfoXLM.
    """

    def __init__(self, defn: Mapping[str, Any], sizes: Any = None) -> None:  # noqa: ARG002 - as in InfoXLM
        if not defn:
            raise ValueError("DictDataset: there are no datasets; give one at least")
        self.defn = dict(defn)

    @property
    @override
    def children(self) -> Sequence[Any]:
        return list(self.defn.values())

    @override
    def __len__(self) -> int:
        return min(map(len, self.defn.values()))

    @override
    def __getitem__(self, index: SupportsIndex) -> dict[str, Any]:
        row = position(index, self)
        return {key: dataset[row] for key, dataset in self.defn.items()}

    @override
    def __getitems__(self, indices: Sequence[int]) -> list[dict[str, Any]]:
        rows = [position(index, self) for index in indices]
        columns = [children.items_of(dataset, rows) for dataset in self.defn.values()]
        return [dict(zip(self.defn, items, strict=True)) for items in zip(*columns, strict=True)]

    @override
    def collate_arrays(self, samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Merge items to a batch of each dataset, by name; an empty dict without items."""
        if not samples:
            return {}
        return {
            key: children.collated(dataset, [sample[key] for sample in samples]) for key, dataset in self.defn.items()
        }

    @override
    def sizes_at(self, rows: Rows) -> Sizes:
        numbers = np.arange(len(self))[rows]
        return {key: children.sizes_of(dataset, numbers) for key, dataset in self.defn.items()}
