"""Datasets whose rows are some rows of another, in another order or more than once."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset
from raydata_ext.text.contract.sizes import position

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from raydata_ext.text.contract.sizes import Rows, Sizes


class ReindexedDataset(BaseWrapperDataset):
    """A choice of the rows of a child."""

    @property
    @abstractmethod
    def indices(self) -> NDArray[np.int64]:
        """The row of the child that each row is, shape (rows,)."""

    @override
    def __len__(self) -> int:
        return len(self.indices)

    @override
    def __getitem__(self, index: SupportsIndex) -> Any:
        return self.dataset[int(self.indices[position(index, self)])]

    @override
    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        return children.items_of(self.dataset, self.indices[[position(index, self) for index in indices]].tolist())

    @override
    def sizes_at(self, rows: Rows) -> Sizes:
        return children.sizes_of(self.dataset, self.indices[rows])

    @override
    def ordered_indices(self) -> NDArray[np.int64]:
        return np.arange(len(self))

    @override
    def prefetch(self, indices: ArrayLike) -> None:
        children.prefetch(self.dataset, self.indices[np.asarray(indices, np.int64)])

    @override
    def attr(self, attr: str, index: SupportsIndex) -> Any:
        if hasattr(self, attr):
            return getattr(self, attr)
        return children.attr_of(self.dataset, attr, int(self.indices[position(index, self)]))
