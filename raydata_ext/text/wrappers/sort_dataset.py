"""A dataset whose batches are cut in an order that is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


class SortDataset(BaseWrapperDataset):
    """Rows sorted by keys.

    Args:
        dataset: the child.
        sort_order: a key, shape (rows,), or a list of keys, of which the last counts most.

    Raises:
        ValueError: a key has not one value a row.
    """

    def __init__(self, dataset: Any, sort_order: ArrayLike | Sequence[ArrayLike]) -> None:
        super().__init__(dataset)
        keys = sort_order if isinstance(sort_order, list | tuple) and any(map(np.ndim, sort_order)) else [sort_order]
        self.sort_order = [np.asarray(key) for key in keys]
        for key in self.sort_order:
            if key.shape != (len(dataset),):
                raise ValueError(f"SortDataset: a key has shape {key.shape}; {len(dataset)} rows need one value each")

    @override
    def ordered_indices(self) -> NDArray[np.int64]:
        return np.lexsort(self.sort_order)
