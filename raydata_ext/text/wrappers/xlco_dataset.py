"""Pairs of sentence pairs, mixed, for the contrast of a sentence with its translation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from typing_extensions import override

from raydata_ext.text.collate_tokens import Padding, ragged
from raydata_ext.text.contract import children
from raydata_ext.text.contract.parent_dataset import ParentDataset
from raydata_ext.text.contract.seeds import fairseq_random_state
from raydata_ext.text.contract.sizes import position
from raydata_ext.text.contract.tensors import to_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from raydata_ext.text.contract.sizes import IntArray, Rows
    from raydata_ext.text.dictionary import Dictionary

LINES = 4
"""Rows of the child that make one row: a source and its target, and another source and its target."""


class XlcoDataset(ParentDataset):
    """Two sentence pairs joined to one, in an order drawn for each row and epoch.

    An item is a dict of `id`, `source` and `target`: both sources, and both targets, joined, perhaps each in the other
    order, and perhaps source and target exchanged. The size of a row is the longer of the two, before the beginning of
    sentence is taken from its second part.

    Args:
        dataset: the child, of tokens: source, target, source, target, and so on. What remains of four is not used.
        vocab: the dictionary.
        remove_bos_of_item2: whether a second sentence loses its beginning of sentence.
        seed: of the draws.

    Source: `XlcoDataset` of InfoXLM, with the same draws.
    """

    def __init__(self, dataset: Any, vocab: Dictionary, remove_bos_of_item2: bool = True, seed: int = 1) -> None:
        self.dataset = dataset
        self.vocab = vocab
        self.remove_bos_of_item2 = remove_bos_of_item2
        self.seed = seed

    @property
    @override
    def children(self) -> Sequence[Any]:
        return (self.dataset,)

    @override
    def __len__(self) -> int:
        return len(self.dataset) // LINES

    @override
    def __getitem__(self, index: SupportsIndex) -> dict[str, Any]:
        row = position(index, self)
        lines = children.items_of(self.dataset, range(LINES * row, LINES * (row + 1)))
        mode = fairseq_random_state(self.seed, self.epoch, row).randint(8)
        source = self._join(lines[0], lines[2], exchange=bool(mode & 1))
        target = self._join(lines[1], lines[3], exchange=bool(mode & 2))
        if mode & 4:
            source, target = target, source
        return {"id": row, "source": source, "target": target}

    @override
    def collate_arrays(self, samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Merge items to a batch with a model input for each side, `src_net_input` and `tgt_net_input`."""
        if not samples:
            return {}
        source, target = (self._net_input([sample[side] for sample in samples]) for side in ("source", "target"))
        return {
            "id": np.array([sample["id"] for sample in samples], np.int64),
            "nsentences": len(samples),
            "ntokens": int(source["src_lengths"].sum() + target["src_lengths"].sum()),
            "src_net_input": source,
            "tgt_net_input": target,
        }

    @override
    def sizes_at(self, rows: Rows) -> IntArray:
        first = LINES * np.arange(len(self))[rows]
        lengths = [children.lengths_of(self.dataset, first + line) for line in range(LINES)]
        return np.asarray(np.maximum(lengths[0] + lengths[2], lengths[1] + lengths[3]))

    @override
    def prefetch(self, indices: ArrayLike) -> None:
        lines = LINES * np.asarray(indices, np.int64)[:, None] + np.arange(LINES)
        children.prefetch(self.dataset, lines.ravel())

    def _join(self, first: Any, second: Any, *, exchange: bool) -> NDArray[np.int64]:
        parts = [to_tokens(second), to_tokens(first)] if exchange else [to_tokens(first), to_tokens(second)]
        if self.remove_bos_of_item2 and len(parts[1]) and parts[1][0] == self.vocab.bos():
            parts[1] = parts[1][1:]
        return np.concatenate(parts)

    def _net_input(self, rows: Sequence[NDArray[np.int64]]) -> dict[str, NDArray[np.int64]]:
        tokens, lengths = ragged(rows)
        padding = Padding(self.vocab.pad())
        return {"src_tokens": padding.fill(tokens, padding.mask(lengths), np.int64), "src_lengths": lengths}
