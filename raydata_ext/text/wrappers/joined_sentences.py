"""Items of several datasets joined to one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.contract.parent_dataset import ParentDataset
from raydata_ext.text.contract.sizes import position
from raydata_ext.text.contract.tensors import to_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from raydata_ext.text.contract.sizes import IntArray, Rows


class ConcatSentencesDataset(ParentDataset):
    """Row by row, the tokens of all datasets one after the other.

    Args:
        datasets: of tokens, one at least and of equal length; the first one gives order and batches.

    Raises:
        ValueError: there are none, or lengths differ.
    """

    def __init__(self, *datasets: Any) -> None:
        lengths = {len(dataset) for dataset in datasets}
        if len(lengths) != 1:
            raise ValueError(
                f"{type(self).__name__}: datasets have {sorted(lengths)} rows; one at least is needed, all as long"
            )
        self.datasets = datasets

    @property
    @override
    def children(self) -> Sequence[Any]:
        return self.datasets

    @override
    def __len__(self) -> int:
        return len(self.datasets[0])

    @override
    def __getitem__(self, index: SupportsIndex) -> NDArray[np.int64]:
        row = position(index, self)
        return np.concatenate([to_tokens(dataset[row]) for dataset in self.datasets])

    @override
    def collate_arrays(self, samples: Sequence[Any]) -> Any:
        return children.collated(self.datasets[0], samples)

    @override
    def sizes_at(self, rows: Rows) -> IntArray:
        lengths = [children.lengths_of(dataset, rows) for dataset in self.datasets]
        return np.asarray(np.sum(lengths, axis=0, dtype=np.int64))

    @override
    def ordered_indices(self) -> NDArray[np.int64]:
        return children.order_of(self.datasets[0])


class TLMDataset(ConcatSentencesDataset):
    """A sentence and its translation as one item: bos, source, eos, target, eos.

    Args:
        src_dataset: sources, of tokens.
        tgt_dataset: targets, as many.
        bos: the beginning of sentence.
        eos: the end of sentence.

    Raises:
        ValueError: lengths differ.

    Source: `TLMDataset` of InfoXLM.
    """

    def __init__(self, src_dataset: Any, tgt_dataset: Any, bos: int, eos: int) -> None:
        super().__init__(src_dataset, tgt_dataset)
        self.bos = bos
        self.eos = eos

    @override
    def __getitem__(self, index: SupportsIndex) -> NDArray[np.int64]:
        row = position(index, self)
        source, target = (to_tokens(dataset[row]) for dataset in self.datasets)
        return np.concatenate(([self.bos], source, [self.eos], target, [self.eos]))

    @override
    def sizes_at(self, rows: Rows) -> IntArray:
        return super().sizes_at(rows) + 3  # the symbols
