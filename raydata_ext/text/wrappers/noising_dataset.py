"""Sentences with noise, for a model that has to restore them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset
from raydata_ext.text.contract.seeds import fairseq_random_state
from raydata_ext.text.contract.tensors import to_tokens
from raydata_ext.text.wrappers.word_noising import Noiser, UnsupervisedMTNoising

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from raydata_ext.text.dictionary import Dictionary


class NoisingDataset(BaseWrapperDataset):
    """Items with noise that depends on seed and row: it is the same in each epoch, as in fairseq.

    Sizes are those without noise, which makes items shorter, if anything.

    Args:
        src_dataset: the child, of tokens.
        src_dict: its dictionary.
        seed: of the draws.
        noiser: makes the noise; None for one that is made here.
        noising_class: what is made then, with `src_dict` and `kwargs`.
        kwargs: its arguments.
    """

    def __init__(
        self,
        src_dataset: Any,
        src_dict: Dictionary,
        seed: int,
        noiser: Noiser | None = None,
        noising_class: Callable[..., Noiser] = UnsupervisedMTNoising,
        **kwargs: Any,
    ) -> None:
        super().__init__(src_dataset)
        self.src_dataset = src_dataset
        self.src_dict = src_dict
        self.seed = seed
        self.noiser = noising_class(dictionary=src_dict, **kwargs) if noiser is None else noiser

    @override
    def transform(self, item: Any, index: int) -> NDArray[np.int64]:
        tokens = to_tokens(item)
        if not len(tokens):
            return tokens
        noisy = self.noiser.noising(
            tokens[:, None], np.array([len(tokens)]), rng=fairseq_random_state(self.seed + index)
        )
        return to_tokens(noisy[0] if isinstance(noisy, tuple) else noisy)[:, 0]
