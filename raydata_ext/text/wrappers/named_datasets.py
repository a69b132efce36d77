"""Datasets by name, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.contract.parent_dataset import ParentDataset
from raydata_ext.text.contract.sizes import position

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class NamedDatasets(ParentDataset):
    """A row holds the row of each dataset by its name.

    Args:
        datasets: by name.

    Attributes:
        defn: the same.
    """

    def __init__(self, datasets: Mapping[str, Any]) -> None:
        self.defn = dict(datasets)

    @property
    @override
    def children(self) -> Sequence[Any]:
        return list(self.defn.values())

    @override
    def __getitem__(self, index: SupportsIndex) -> dict[str, Any]:
        row = position(index, self)
        return {name: dataset[row] for name, dataset in self.defn.items()}

    @override
    def __getitems__(self, indices: Sequence[int]) -> list[dict[str, Any]]:
        rows = [position(index, self) for index in indices]
        columns = [children.items_of(dataset, rows) for dataset in self.defn.values()]
        return [dict(zip(self.defn, items, strict=True)) for items in zip(*columns, strict=True)]
