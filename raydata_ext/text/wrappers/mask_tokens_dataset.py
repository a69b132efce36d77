"""Items with some tokens masked, for a model that has to guess them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.text.collate_tokens import ragged
from raydata_ext.text.contract import children
from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset
from raydata_ext.text.contract.sizes import position
from raydata_ext.text.contract.tensors import to_array, to_tokens
from raydata_ext.text.wrappers.lru_cache_dataset import LRUCacheDataset
from raydata_ext.text.wrappers.mask_draws import MaskDraw, MaskShares, draw_by_counter, draw_like_fairseq

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from raydata_ext.text.dictionary import Dictionary


class MaskTokensDataset(BaseWrapperDataset):
    """Masked items, or, to go with them, the tokens that were masked.

    Which tokens are masked depends on seed, epoch and row, in each process and in any order.

    Args:
        dataset: the child, of tokens.
        vocab: the dictionary; random tokens are none of its special symbols.
        pad_idx: what stands in the place of tokens that are not to be guessed.
        mask_idx: the mask.
        return_masked_tokens: whether items are what is to be guessed: the token where one was chosen, masked or not,
            else `pad_idx`.
        seed: of the draws.
        mask_prob: share of tokens that are chosen.
        leave_unmasked_prob: share of these that stay.
        random_token_prob: share of these that become random tokens.
        freq_weighted_replacement: whether frequent tokens are more likely to be random ones.
        mask_whole_words: which tokens begin a word, for each symbol, shape (vocabulary,): then words are chosen.
        compat: whether draws are those of fairseq. Others are drawn for a whole batch at once, which is faster.

    Raises:
        ValueError: a share is not one, or an item holds the mask.
    """

    def __init__(
        self,
        dataset: Any,
        vocab: Dictionary,
        pad_idx: int,
        mask_idx: int,
        return_masked_tokens: bool = False,
        seed: int = 1,
        mask_prob: float = 0.15,
        leave_unmasked_prob: float = 0.1,
        random_token_prob: float = 0.1,
        freq_weighted_replacement: bool = False,
        mask_whole_words: Any = None,
        *,
        compat: bool = True,
    ) -> None:
        super().__init__(dataset)
        _require_share("mask_prob", mask_prob)
        _require_share("leave_unmasked_prob", leave_unmasked_prob)
        _require_share("random_token_prob", random_token_prob)
        _require_share("leave_unmasked_prob + random_token_prob", leave_unmasked_prob + random_token_prob)
        self.vocab = vocab
        self.pad_idx = pad_idx
        self.mask_idx = mask_idx
        self.return_masked_tokens = return_masked_tokens
        self.seed = seed
        self.mask_whole_words = (
            None if mask_whole_words is None else np.asarray(to_array(mask_whole_words)).astype(np.bool_)
        )
        self.compat = compat
        cumulative = _cumulative(vocab, freq_weighted_replacement) if random_token_prob > 0 else np.empty(0)
        self._shares = MaskShares(mask_prob, leave_unmasked_prob, random_token_prob, cumulative)

    @classmethod
    def apply_mask(cls, dataset: Any, *args: Any, **kwargs: Any) -> tuple[LRUCacheDataset, LRUCacheDataset]:
        """Return two datasets: the masked items, and what is to be guessed in them.

        Args:
            dataset: the child, of tokens.
            args: those of the class, after `dataset`.
            kwargs: the same, by name.
        """
        cached = LRUCacheDataset(dataset)
        return (
            LRUCacheDataset(cls(cached, *args, **{**kwargs, "return_masked_tokens": False})),
            LRUCacheDataset(cls(cached, *args, **{**kwargs, "return_masked_tokens": True})),
        )

    @override
    def transform(self, item: Any, index: int) -> NDArray[np.int64]:
        return self._mask([item], [index])[0]

    @override
    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        rows = [position(index, self) for index in indices]
        items = children.items_of(self.dataset, rows)
        if self.compat or not rows:
            return [self.transform(item, row) for item, row in zip(items, rows, strict=True)]
        return self._mask(items, rows)

    def _mask(self, items: Sequence[Any], rows: Sequence[int]) -> list[NDArray[np.int64]]:
        tokens, lengths = ragged([to_tokens(item) for item in items])
        ends = np.cumsum(lengths)
        found = np.flatnonzero(tokens == self.mask_idx)
        if len(found):
            row = rows[int(np.searchsorted(ends, found[0], side="right"))]
            raise ValueError(f"MaskTokensDataset: item {row} already holds the mask, token {self.mask_idx}")
        masked = self._apply(tokens, self._draw(tokens, lengths, rows))
        return np.split(masked, ends[:-1])

    def _draw(self, tokens: NDArray[np.int64], lengths: NDArray[np.int64], rows: Sequence[int]) -> MaskDraw:
        words = self._words(tokens, lengths)
        if not self.compat:
            return draw_by_counter(self._shares, words, lengths, self.seed, self.epoch, np.array(rows, np.int64))
        (row,) = rows
        return draw_like_fairseq(self._shares, words, len(tokens), (self.seed, self.epoch, row))

    def _apply(self, tokens: NDArray[np.int64], draw: MaskDraw) -> NDArray[np.int64]:
        if self.return_masked_tokens:
            return np.where(draw.chosen, tokens, self.pad_idx)
        masked = np.where(draw.masked, self.mask_idx, tokens)
        masked[draw.random] = draw.tokens
        return masked

    def _words(self, tokens: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return which word of its item each token is in; -1 in front of the first word."""
        starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
        if self.mask_whole_words is None:
            return np.arange(len(tokens)) - starts
        begun = np.concatenate(([0], np.cumsum(self.mask_whole_words[tokens])))
        words: NDArray[np.int64] = begun[1:] - begun[starts] - 1
        return words


def _require_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"MaskTokensDataset: {name} is {value}; it must be from 0 to 1")


def _cumulative(vocab: Dictionary, by_frequency: bool) -> NDArray[np.float64]:
    """Return the probability that a random token has a number up to each: what `RandomState.choice` computes of it."""
    weights = np.array(vocab.count, np.float64) if by_frequency else np.ones(len(vocab))
    weights[: vocab.nspecial] = 0
    if not weights.any():
        raise ValueError("MaskTokensDataset: the dictionary has no symbols to draw random tokens from")
    cumulative = np.cumsum(weights / weights.sum())
    cumulative /= cumulative[-1]
    return cumulative
