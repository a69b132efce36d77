"""Small datasets for the parts of a nested batch: numbers, labels, lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset
from raydata_ext.text.contract.fairseq_dataset import FairseqDataset
from raydata_ext.text.contract.sizes import position
from raydata_ext.text.contract.tensors import to_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class NumelDataset(BaseWrapperDataset):
    """The number of elements of each item.

    Args:
        dataset: the child.
        reduce: whether a batch is the sum, an int, instead of an array of shape (rows,).
    """

    def __init__(self, dataset: Any, reduce: bool = False) -> None:
        super().__init__(dataset)
        self.reduce = reduce

    @override
    def transform(self, item: Any, index: int) -> int:
        return int(np.size(to_array(item)))

    @override
    def collate_arrays(self, samples: Sequence[int]) -> Any:
        return sum(samples) if self.reduce else np.array(samples, np.int64)


class NumSamplesDataset(FairseqDataset):
    """The number of samples in a batch. It has no length of its own and goes with any other dataset."""

    @override
    def __getitem__(self, index: SupportsIndex) -> int:
        return 1

    @override
    def __len__(self) -> int:
        return 0

    @override
    def collate_arrays(self, samples: Sequence[int]) -> int:
        return sum(samples)


class IdDataset(FairseqDataset):
    """The number of each row. It has no length of its own and goes with any other dataset."""

    @override
    def __getitem__(self, index: SupportsIndex) -> int:
        return int(index)

    @override
    def __len__(self) -> int:
        return 0

    @override
    def collate_arrays(self, samples: Sequence[int]) -> NDArray[np.int64]:
        return np.array(samples, np.int64)


class RawLabelDataset(FairseqDataset):
    """Labels, numbers or lists of numbers of equal length.

    Args:
        labels: one a row.
    """

    def __init__(self, labels: Sequence[Any]) -> None:
        self.labels = labels

    @override
    def __getitem__(self, index: SupportsIndex) -> Any:
        return self.labels[position(index, self)]

    @override
    def __len__(self) -> int:
        return len(self.labels)

    @override
    def collate_arrays(self, samples: Sequence[Any]) -> NDArray[Any]:
        """Merge labels to an array; floats become float32, as in a torch tensor."""
        labels = np.array([to_array(sample) for sample in samples])
        return labels.astype(np.float32) if labels.dtype == np.float64 else labels


class ListDataset(BaseWrapperDataset):
    """Values of any kind; a batch is the list of them.

    Args:
        dataset: the values.
        sizes: their lengths, if any.
    """

    def __init__(self, dataset: Sequence[Any], sizes: Any = None) -> None:
        super().__init__(dataset)
        if sizes is not None:
            self.sizes = sizes

    @override
    def collate_arrays(self, samples: Sequence[Any]) -> list[Any]:
        return list(samples)
