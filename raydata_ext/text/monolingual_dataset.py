"""Sentences or blocks of one language with their targets, for language models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from typing_extensions import override

from raydata_ext.text.collate_tokens import Padding, ragged
from raydata_ext.text.contract import children
from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset
from raydata_ext.text.contract.seeds import fairseq_random_state
from raydata_ext.text.contract.sizes import sort_by_size
from raydata_ext.text.contract.tensors import to_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from raydata_ext.text.contract.sizes import IntArray, Rows
    from raydata_ext.text.dictionary import Dictionary

TARGETS: Final = ("self", "future", "past")


class MonolingualDataset(BaseWrapperDataset):
    """A dataset of tokens, with what a language model is to predict.

    With targets, the child's items are triples of source, future and past, as `TokenBlockDataset` makes them. An item
    is a dict of `id`, `source` and `target`: an array, a list of arrays if there are several targets, or None.

    Args:
        dataset: the child.
        sizes: lengths of its rows; None for what it says.
        src_vocab: dictionary of the sources.
        tgt_vocab: dictionary of the targets. Where it has fewer symbols, others become unknown in targets.
        add_eos_for_other_targets: end sources with the end of sentence if `self` or `past` is a target.
        shuffle: whether rows of equal sizes come in random order.
        targets: some of "self", "future", "past"; none or None for no targets.
        add_bos_token: begin sources and targets with the beginning of sentence.
        fixed_pad_length: width of batches at least.
        pad_to_bsz: rows of batches at least.
        seed: of the random order.

    Raises:
        ValueError: there is no such target, or there are not as many sizes as rows.
    """

    def __init__(
        self,
        dataset: Any,
        sizes: Any,
        src_vocab: Dictionary,
        tgt_vocab: Dictionary | None = None,
        add_eos_for_other_targets: bool = False,
        shuffle: bool = False,
        targets: Sequence[str] | None = None,
        add_bos_token: bool = False,
        fixed_pad_length: int | None = None,
        pad_to_bsz: int | None = None,
        *,
        seed: int = 1,
    ) -> None:
        super().__init__(dataset)
        self.add_bos_token = add_bos_token
        if sizes is not None:
            self.sizes = sizes
            if np.ndim(self.sizes) > 1:
                raise ValueError(f"MonolingualDataset: sizes are of shape {np.shape(sizes)}; give one number a row")
        for target in targets or ():
            if target not in TARGETS:
                raise ValueError(f"MonolingualDataset: there is no target {target!r}; targets are {', '.join(TARGETS)}")
        self.vocab = src_vocab
        self.tgt_vocab = src_vocab if tgt_vocab is None else tgt_vocab
        self.add_eos_for_other_targets = add_eos_for_other_targets
        self.shuffle = shuffle
        self.targets = list(targets) if targets else None
        self.fixed_pad_length = fixed_pad_length
        self.pad_to_bsz = pad_to_bsz
        self.seed = seed

    @override
    def transform(self, item: Any, index: int) -> dict[str, Any]:
        if self.targets is None:
            return {"id": index, "source": self._with_bos(to_tokens(item), self.vocab), "target": None}
        source, found = self._targets(*map(to_tokens, item))
        targets = [self._with_bos(self._known(found[target]), self.tgt_vocab) for target in self.targets]
        source = self._with_bos(source, self.vocab)
        return {"id": index, "source": source, "target": targets[0] if len(targets) == 1 else targets}

    @override
    def collate_arrays(self, samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Merge items to a batch, filled up at the end of rows; without targets, `target` is `src_tokens`."""
        if not samples:
            return {}
        src_tokens, src_lengths = self._pad([sample["source"] for sample in samples])
        targets = [sample["target"] for sample in samples]
        target: Any = src_tokens
        if isinstance(targets[0], list):
            target = [self._pad(column)[0] for column in zip(*targets, strict=True)]
        elif targets[0] is not None:
            target = self._pad(targets)[0]
        return {
            "id": np.array([sample["id"] for sample in samples], np.int64),
            "nsentences": len(samples),
            "ntokens": int(src_lengths.sum()),
            "net_input": {"src_tokens": src_tokens, "src_lengths": src_lengths},
            "target": target,
        }

    @override
    def sizes_at(self, rows: Rows) -> IntArray:
        sizes = children.lengths_of(self.dataset, rows) if self._sizes is None else self._sizes[rows]
        return np.add(sizes, 1, dtype=np.int64) if self.add_bos_token else sizes

    @override
    def ordered_indices(self) -> NDArray[np.int64]:
        """Return rows from short to long; equal ones in the order of `seed`, or as they are."""
        rows = np.arange(len(self))
        if self.shuffle:
            # Equal rows are sorted by what the permutation has at their number: so rows stand where it says.
            rows[fairseq_random_state(self.seed).permutation(len(self))] = np.arange(len(self))
        return sort_by_size(rows, self.sizes_at(slice(None)))

    def _pad(self, rows: Sequence[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        tokens, lengths = ragged(rows)
        missing = max(0, (self.pad_to_bsz or 0) - len(lengths))
        padding = Padding(self.vocab.pad(), to_length=self.fixed_pad_length)
        mask = padding.mask(np.append(lengths, np.zeros(missing, np.int64)))
        return padding.fill(tokens, mask, np.int64), lengths

    def _targets(
        self, source: NDArray[np.int64], future: NDArray[np.int64], past: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], dict[str, NDArray[np.int64]]]:
        """Return the source and all three targets of it, with the end of sentence added where that is wanted."""
        eos, pad = self.vocab.eos(), self.vocab.pad()
        wanted = self.add_eos_for_other_targets and not {"self", "past"}.isdisjoint(self.targets or ())
        if wanted and not (len(source) and source[-1] == eos):
            # The first token of the past lies before the block; with one more target at the end, all move by one.
            past = np.concatenate(([pad], past[1:], source[-1:]))
            source = np.append(source, eos)
            future = np.append(future, pad)
        return source, {"self": source, "future": future, "past": past}

    def _known(self, target: NDArray[np.int64]) -> NDArray[np.int64]:
        if len(self.tgt_vocab) == len(self.vocab):
            return target
        return np.where(target >= len(self.tgt_vocab), self.tgt_vocab.unk(), target)

    def _with_bos(self, tokens: NDArray[np.int64], vocab: Dictionary) -> NDArray[np.int64]:
        return np.concatenate(([vocab.bos()], tokens)) if self.add_bos_token else tokens
