"""Batches with a number for each row that the model gets too, its color."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class ColorizeDataset(BaseWrapperDataset):
    """Adds `colors` to the `net_input` of batches, int64 of shape (rows,), in the order of the batch's `id`.

    Args:
        dataset: the child; its items and batches have `id`.
        color_getter: called with the child and an id, gives the number.
    """

    def __init__(self, dataset: Any, color_getter: Callable[[Any, int], int]) -> None:
        super().__init__(dataset)
        self.color_getter = color_getter

    @override
    def collate_arrays(self, samples: Sequence[Mapping[str, Any]]) -> Any:
        batch = children.collated(self.dataset, samples)
        if not batch:
            return batch
        colors = [self.color_getter(self.dataset, number) for number in np.asarray(batch["id"]).tolist()]
        return {**batch, "net_input": {**batch["net_input"], "colors": np.array(colors, np.int64)}}
