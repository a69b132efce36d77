"""A dataset around another one that changes one thing about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.contract.parent_dataset import ParentDataset
from raydata_ext.text.contract.sizes import position

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from raydata_ext.text.contract.sizes import Rows, Sizes
    from raydata_ext.text.contract.tensors import TensorKind


class BaseWrapperDataset(ParentDataset):
    """A dataset that is in all things like the one it wraps. What changes items overrides `transform`.

    Args:
        dataset: the child; anything with rows by number.
    """

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def transform(self, item: Any, index: int) -> Any:  # noqa: ARG002 - some wrappers need the index
        """Return what becomes of an item of the child, which is left as it is.

        Args:
            item: an item of the child.
            index: its number, not negative.
        """
        return item

    @property
    @override
    def children(self) -> Sequence[Any]:
        return (self.dataset,)

    @override
    def __getitem__(self, index: SupportsIndex) -> Any:
        number = position(index, self)
        return self.transform(self.dataset[number], number)

    @override
    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        numbers = [position(index, self) for index in indices]
        items = children.items_of(self.dataset, numbers)
        return [self.transform(item, number) for item, number in zip(items, numbers, strict=True)]

    @override
    def __len__(self) -> int:
        return len(self.dataset)

    @override
    def _usual_tensors(self) -> TensorKind:
        return getattr(self.dataset, "return_tensors", None) or super()._usual_tensors()

    @override
    def collate_arrays(self, samples: Sequence[Any]) -> Any:
        return children.collated(self.dataset, samples)

    @override
    def sizes_at(self, rows: Rows) -> Sizes:
        return children.sizes_of(self.dataset, rows) if self._sizes is None else self._sizes[rows]

    @override
    def ordered_indices(self) -> NDArray[np.int64]:
        return children.order_of(self.dataset)

    @override
    def get_batch_shapes(self) -> Sequence[tuple[int | None, int]] | None:
        shapes = getattr(self.dataset, "get_batch_shapes", None)
        return None if shapes is None else shapes()

    @property
    @override
    def supports_fetch_outside_dataloader(self) -> bool:
        return bool(getattr(self.dataset, "supports_fetch_outside_dataloader", True))

    @override
    def attr(self, attr: str, index: SupportsIndex) -> Any:
        """Return an attribute of the wrapper, or else of the dataset that a row of the child is in."""
        return (
            getattr(self, attr) if hasattr(self, attr) else children.attr_of(self.dataset, attr, position(index, self))
        )
