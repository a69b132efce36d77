"""Items filled up to a few lengths, so that batches have few shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typing_extensions import override

from raydata_ext.text.collate_tokens import Padding
from raydata_ext.text.contract import children
from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset
from raydata_ext.text.contract.sizes import as_sizes
from raydata_ext.text.contract.tensors import to_tokens
from raydata_ext.text.size_buckets import get_bucketed_sizes, get_buckets

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class BucketPadLengthDataset(BaseWrapperDataset):
    """Each item is as long as the upper end of the bucket that its size is in.

    Args:
        dataset: the child, of tokens.
        sizes: lengths of its rows; None for what it says.
        num_buckets: how many lengths at most.
        pad_idx: what items are filled up with.
        left_pad: whether in front instead of at the end.

    Attributes:
        buckets: the lengths, ascending.

    Raises:
        ValueError: `num_buckets` is not positive.
    """

    def __init__(self, dataset: Any, sizes: Any, num_buckets: int, pad_idx: int, left_pad: bool) -> None:
        super().__init__(dataset)
        lengths = children.lengths_of(dataset, slice(None)) if sizes is None else as_sizes(sizes, self)
        self.buckets = get_buckets(lengths, num_buckets)
        self.sizes = get_bucketed_sizes(lengths, self.buckets)
        self._padding = Padding(pad_idx, left_pad)

    @override
    def transform(self, item: Any, index: int) -> NDArray[np.int64]:
        return self._padding.extended(to_tokens(item), self.num_tokens(index))
