"""Texts with the noise of BART, and the texts as they were, for a model that has to restore them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from typing_extensions import override

from raydata_ext.text.collate_tokens import Padding
from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset
from raydata_ext.text.contract.seeds import fairseq_random_state
from raydata_ext.text.contract.sizes import sort_by_size
from raydata_ext.text.contract.tensors import to_array, to_tokens
from raydata_ext.text.pair_batch import collate_pairs
from raydata_ext.text.wrappers.bart_noise import (
    Replacement,
    insert_tokens,
    mask_spans,
    permute_sentences,
    poisson_lengths,
    rotate,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from raydata_ext.text.dictionary import Dictionary

GPT2_FULL_STOP = "13"
"""The symbol of "." in the dictionaries of models with GPT-2's BPE."""


@dataclass(frozen=True)
class DenoisingOptions:
    """How much noise there is; fairseq's command line options of the same names.

    Args:
        mask: share of words that are masked.
        mask_random: share of masks that are random tokens instead.
        insert: number of tokens put in, relative to those there.
        rotate: probability of a text to be turned round.
        permute_sentences: share of sentences that change places.
        bpe: "gpt2" where sentences end with its full stop; otherwise they end with the end of sentence.
        replace_length: tokens that stand for a masked span: 0, 1, or -1 for as many as there were.
        mask_length: "subword", "word", or "span-poisson".
        poisson_lambda: mean number of words of a span, for "span-poisson".

    Raises:
        ValueError: options are none of these, or do not go together.
    """

    mask: float = 0.0
    mask_random: float = 0.0
    insert: float = 0.0
    rotate: float = 0.0
    permute_sentences: float = 0.0
    bpe: str | None = None
    replace_length: int = -1
    mask_length: Literal["subword", "word", "span-poisson"] = "word"
    poisson_lambda: float = 3.0

    @classmethod
    def of(cls, args: Any) -> DenoisingOptions:
        """Return the options among the attributes of a namespace, as `argparse` makes it."""
        return cls(**{name: getattr(args, name) for name in cls.__dataclass_fields__ if hasattr(args, name)})

    def __post_init__(self) -> None:
        for name in ("mask", "mask_random", "rotate", "permute_sentences"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"DenoisingDataset: {name} is {getattr(self, name)}; it must be from 0 to 1")
        if self.insert < 0:
            raise ValueError(f"DenoisingDataset: insert is {self.insert}, but must not be negative")
        if self.mask_length not in {"subword", "word", "span-poisson"}:
            raise ValueError(f'invalid arg: mask_length={self.mask_length}; "subword", "word" or "span-poisson"')
        allowed = (0, 1) if self.mask_length == "subword" else (-1, 0, 1)
        if self.replace_length not in allowed:
            raise ValueError(f"invalid arg: replace_length={self.replace_length}; it must be one of {allowed}")


class DenoisingDataset(BaseWrapperDataset):
    """An item is a dict of `id`, `source` (the noisy text) and `target` (the text).

    Noise depends on seed, epoch and row.

    Args:
        dataset: the child; its items begin with the beginning of sentence and end with the end of it.
        sizes: their lengths; None for what it says.
        vocab: the dictionary.
        mask_idx: the mask.
        mask_whole_words: which tokens begin a word, for each symbol, shape (vocabulary,); None for all.
        shuffle: whether rows of equal sizes come in random order.
        seed: of all draws.
        args: how much noise: `DenoisingOptions`, or a namespace with attributes of these names.
        eos: the end of sentence; None is that of the dictionary.
        item_transform_func: called with source and target, gives what stands for them.

    Raises:
        ValueError: options do not go together. Or an item does not begin and end as it must.
    """

    def __init__(
        self,
        dataset: Any,
        sizes: Any,
        vocab: Dictionary,
        mask_idx: int,
        mask_whole_words: Any,
        shuffle: bool,
        seed: int,
        args: Any,
        eos: int | None = None,
        item_transform_func: Callable[[Any, Any], tuple[Any, Any]] | None = None,
    ) -> None:
        super().__init__(dataset)
        if sizes is not None:
            self.sizes = sizes
        options = args if isinstance(args, DenoisingOptions) else DenoisingOptions.of(args)
        self.options = options
        self.vocab = vocab
        self.mask_whole_words = (
            None if mask_whole_words is None else np.asarray(to_array(mask_whole_words)).astype(np.bool_)
        )
        self.shuffle = shuffle
        self.seed = seed
        self.eos = vocab.eos() if eos is None else eos
        self.item_transform_func = item_transform_func
        self.full_stop_index = vocab.index(GPT2_FULL_STOP) if options.bpe == "gpt2" else vocab.eos()
        self._replacement = Replacement(mask_idx, options.mask_random, len(vocab), options.replace_length)
        poisson = options.mask_length == "span-poisson"
        self._span_lengths = poisson_lengths(options.poisson_lambda) if poisson else None

    @override
    def transform(self, item: Any, index: int) -> dict[str, Any]:
        target = to_tokens(item)
        if len(target) < 2 or (target[0], target[-1]) != (self.vocab.bos(), self.eos):  # noqa: PLR2004 - both ends
            raise ValueError(
                f"DenoisingDataset: item {index} of {len(target)} tokens must begin with {self.vocab.bos()} and end "
                f"with {self.eos}, but is {target[:3].tolist()} ... {target[-3:].tolist()}"
            )
        source: Any = self._noisy(target, fairseq_random_state(self.seed, self.epoch, index))
        if self.item_transform_func is not None:
            source, target = self.item_transform_func(source, target)
        return {"id": index, "source": source, "target": target}

    @override
    def collate_arrays(self, samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Merge items to a batch, see `collate_pairs`; rows are filled up at the end."""
        padding = Padding(self.vocab.pad())
        return collate_pairs(samples, padding, padding, eos_idx=None)

    @override
    def ordered_indices(self) -> NDArray[np.int64]:
        """Return rows from short to long; equal ones in the order of `seed`, or as they are."""
        rows = fairseq_random_state(self.seed).permutation(len(self)) if self.shuffle else np.arange(len(self))
        return sort_by_size(rows, self.sizes)

    def _noisy(self, tokens: NDArray[np.int64], rng: np.random.RandomState) -> NDArray[np.int64]:
        options = self.options
        if options.permute_sentences > 0:
            tokens = permute_sentences(tokens, options.permute_sentences, self.full_stop_index, rng)
        if options.mask > 0:
            starts = np.ones(len(tokens), np.bool_) if self.mask_whole_words is None else self.mask_whole_words[tokens]
            tokens = mask_spans(tokens, options.mask, starts, self._span_lengths, self._replacement, rng)
        if options.insert > 0:
            tokens = insert_tokens(tokens, int(np.ceil(len(tokens) * options.insert)), self._replacement, rng)
        if options.rotate > 0 and rng.random_sample() < options.rotate:
            tokens = rotate(tokens, rng)
        return tokens
