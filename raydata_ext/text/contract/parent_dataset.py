"""What all datasets that are made of others have in common: what concerns the children is passed on to each."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.contract.fairseq_dataset import FairseqDataset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike


class ParentDataset(FairseqDataset):
    """A dataset made of others. Its rows are theirs, unless it says otherwise in `prefetch`."""

    @property
    @abstractmethod
    def children(self) -> Sequence[Any]:
        """The datasets that it is made of."""

    @override
    def set_epoch(self, epoch: int) -> None:
        super().set_epoch(epoch)
        for child in self.children:
            children.set_epoch(child, epoch)

    @property
    @override
    def can_reuse_epoch_itr_across_epochs(self) -> bool:
        return all(map(children.can_reuse_batches, self.children))

    @property
    @override
    def supports_prefetch(self) -> bool:
        return any(map(children.supports_prefetch, self.children))

    @override
    def prefetch(self, indices: ArrayLike) -> None:
        for child in self.children:
            children.prefetch(child, indices)
