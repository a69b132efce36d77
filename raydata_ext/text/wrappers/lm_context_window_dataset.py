"""Blocks with the tokens in front of them, for the evaluation of language models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.text.collate_tokens import Padding, Ragged, ragged
from raydata_ext.text.contract import children
from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset
from raydata_ext.text.contract.tensors import to_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


class LMContextWindowDataset(BaseWrapperDataset):
    """Gives each row the last tokens of the rows in front of it as context, in whatever order rows are asked for.

    In a batch `src_tokens` begin with the context, `target` has padding in its place, `src_lengths` count it, and
    `start_indices` say how long it is.

    Args:
        dataset: the child: a `MonolingualDataset` with one target.
        tokens_per_sample: tokens of a row at most.
        context_window: tokens of a context at most; context and row together are at most as long as both.
        pad_idx: the padding symbol.

    Raises:
        ValueError: `context_window` is not positive.
    """

    def __init__(self, dataset: Any, tokens_per_sample: int, context_window: int, pad_idx: int) -> None:
        if context_window < 1:
            raise ValueError(f"LMContextWindowDataset: context_window is {context_window}; it must be at least 1")
        super().__init__(dataset)
        self.tokens_per_sample = tokens_per_sample
        self.context_window = context_window
        self.pad_idx = pad_idx

    @override
    def transform(self, item: Mapping[str, Any], index: int) -> dict[str, Any]:
        room = self.tokens_per_sample + self.context_window - len(item["source"])
        return {**item, "context": self._context(index, min(max(room, 0), self.context_window))}

    @override
    def collate_arrays(self, samples: Sequence[Mapping[str, Any]]) -> Any:
        batch = children.collated(self.dataset, samples)
        if not batch:
            return batch
        contexts = ragged([sample["context"] for sample in samples])
        width = batch["net_input"]["src_tokens"].shape[1] + self.context_window
        sources = [np.concatenate((sample["context"], to_tokens(sample["source"]))) for sample in samples]
        blank = [np.full(length, self.pad_idx) for length in contexts.lengths.tolist()]
        targets = [
            np.concatenate((pad, to_tokens(sample["target"]))) for pad, sample in zip(blank, samples, strict=True)
        ]
        return {
            **batch,
            "net_input": {
                **batch["net_input"],
                "src_tokens": self._pad(ragged(sources), width),
                "src_lengths": ragged(sources).lengths,
            },
            "target": self._pad(ragged(targets), width),
            "start_indices": contexts.lengths.tolist(),
        }

    @override
    def ordered_indices(self) -> NDArray[np.int64]:
        return np.arange(len(self))

    def _context(self, index: int, length: int) -> NDArray[np.int64]:
        """Return the last tokens in front of a row."""
        parts: list[NDArray[np.int64]] = []
        while length > 0 and index > 0:
            index -= 1
            parts.append(to_tokens(self.dataset[index]["source"])[-length:])
            length -= len(parts[-1])
        return np.concatenate([np.empty(0, np.int64), *reversed(parts)])

    def _pad(self, rows: Ragged, width: int) -> NDArray[np.int64]:
        padding = Padding(self.pad_idx, to_length=width)
        return padding.fill(rows.tokens, padding.mask(rows.lengths), np.int64)
