"""Datasets by name, side by side, as long as the shortest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.wrappers.named_datasets import NamedDatasets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from raydata_ext.text.contract.sizes import Rows, Sizes


class DictDataset(NamedDatasets):
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
        super().__init__(defn)

    @override
    def __len__(self) -> int:
        return min(map(len, self.defn.values()))

    @override
    def collate_arrays(self, samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Merge items to a batch of each dataset, by name; an empty dict without items."""
        if not samples:
            return {}
        return {
            name: children.collated(dataset, [sample[name] for sample in samples])
            for name, dataset in self.defn.items()
        }

    @override
    def sizes_at(self, rows: Rows) -> Sizes:
        numbers = np.arange(len(self))[rows]
        return {name: children.sizes_of(dataset, numbers) for name, dataset in self.defn.items()}
