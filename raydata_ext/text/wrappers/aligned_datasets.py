"""Datasets by name of which a row takes one row each, in the order of that dataset, those that are shorter again."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.contract.parent_dataset import ParentDataset

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from raydata_ext.text.contract.sizes import Rows, Sizes


class AlignedDatasets(ParentDataset):
    """Row i is row `order[i % len(order)]` of each dataset, where `order` is its own `ordered_indices`.

    The orders are asked for when they are first needed, and again where they change with the epoch.

    Args:
        datasets: by name, one at least, none of them empty.

    Raises:
        ValueError: there are none, or one is empty.
    """

    def __init__(self, datasets: Mapping[str, Any]) -> None:
        self.datasets = dict(datasets)
        for key, dataset in self.datasets.items():
            if len(dataset) == 0:
                raise ValueError(f"{type(self).__name__}: dataset {key!r} is empty; leave it out")
        if not self.datasets:
            raise ValueError(f"{type(self).__name__}: there are no datasets; give one at least")

    @property
    @override
    def children(self) -> Sequence[Any]:
        return list(self.datasets.values())

    @cached_property
    def _orders(self) -> dict[str, NDArray[np.int64]]:
        return {key: self._order(key) for key in self.datasets}

    def _order(self, key: str) -> NDArray[np.int64]:
        return children.order_of(self.datasets[key])

    @override
    def set_epoch(self, epoch: int) -> None:
        super().set_epoch(epoch)
        if not self.can_reuse_epoch_itr_across_epochs:
            self.__dict__.pop("_orders", None)

    def _row_of(self, key: str, row: int) -> int:
        order = self._orders[key]
        return int(order[row % len(order)])

    def _sizes_by_key(self, rows: Rows) -> dict[str, Sizes]:
        numbers = np.arange(len(self))[rows]
        return {
            key: children.sizes_of(self.datasets[key], order[numbers % len(order)])
            for key, order in self._orders.items()
        }

    @override
    def prefetch(self, indices: ArrayLike) -> None:
        numbers = np.asarray(indices, np.int64)
        for key, order in self._orders.items():
            children.prefetch(self.datasets[key], order[numbers % len(order)])
