"""A dataset that remembers the items it was asked for last."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, SupportsIndex

from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset
from raydata_ext.text.contract.sizes import position

if TYPE_CHECKING:
    from collections.abc import Sequence

ITEMS = 8


class LRUCacheDataset(BaseWrapperDataset):
    """Gives the last items, and the last batch of items, again without asking the child; until the epoch changes.

    It is for items that are costly and wanted several times at once, such as those of which several parts of a batch
    are made.

    Args:
        dataset: the child.
        token: not used; fairseq has it.
    """

    def __init__(self, dataset: Any, token: int | None = None) -> None:
        super().__init__(dataset)
        self.token = token
        self._forget()

    @override
    def __getitem__(self, index: SupportsIndex) -> Any:
        return self._item(position(index, self))

    @override
    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        return list(self._items(tuple(position(index, self) for index in indices)))

    @override
    def set_epoch(self, epoch: int) -> None:
        super().set_epoch(epoch)
        self._forget()

    def _forget(self) -> None:
        self._item = lru_cache(ITEMS)(self.dataset.__getitem__)
        self._items = lru_cache(1)(lambda indices: children.items_of(self.dataset, indices))

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in {"_item", "_items"}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()
