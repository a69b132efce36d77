"""Batches of pairs with other symbols at the end of sources and the beginning of targets, such as a language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class TransformEosLangPairDataset(BaseWrapperDataset):
    """Replaces the last token of each source, and the first of `prev_output_tokens`, in a batch.

    Args:
        dataset: the child; makes batches as `LanguagePairDataset` does, padded on any side.
        src_eos: the last token of sources.
        new_src_eos: what replaces it; None leaves it.
        tgt_bos: the first token of `prev_output_tokens`; None is any.
        new_tgt_bos: what replaces it; None leaves it.

    Raises:
        ValueError: in `collater`, a row does not end or begin as it must.
    """

    def __init__(
        self,
        dataset: Any,
        src_eos: int,
        new_src_eos: int | None = None,
        tgt_bos: int | None = None,
        new_tgt_bos: int | None = None,
    ) -> None:
        super().__init__(dataset)
        self.src_eos = src_eos
        self.new_src_eos = new_src_eos
        self.tgt_bos = tgt_bos
        self.new_tgt_bos = new_tgt_bos

    @override
    def collate_arrays(self, samples: Sequence[Any]) -> Any:
        batch = children.collated(self.dataset, samples)
        if not batch or "net_input" not in batch:
            return batch
        net_input = dict(batch["net_input"])
        if self.new_src_eos is not None:
            tokens = net_input["src_tokens"]
            padded_left = tokens[:, -1] == self.src_eos
            columns = np.where(padded_left, tokens.shape[1], net_input["src_lengths"]) - 1
            net_input["src_tokens"] = _replaced(
                tokens, columns, self.src_eos, self.new_src_eos, "the last token of source", batch
            )
        if self.new_tgt_bos is not None and "prev_output_tokens" in net_input:
            tokens = net_input["prev_output_tokens"]
            columns = np.zeros(len(tokens), np.int64)
            if children.attr_of(self.dataset, "left_pad_target", 0):
                columns = np.argmax(tokens != children.attr_of(self.dataset, "src_dict", 0).pad(), axis=1)
            net_input["prev_output_tokens"] = _replaced(
                tokens, columns, self.tgt_bos, self.new_tgt_bos, "the first token of target", batch
            )
        return {**batch, "net_input": net_input}


def _replaced(
    tokens: NDArray[np.int64], columns: NDArray[np.int64], old: int | None, new: int, what: str, batch: Any
) -> NDArray[np.int64]:
    """Return tokens with one of each row replaced.

    Args:
        tokens: shape (rows, width).
        columns: where in each row, shape (rows,).
        old: what must be there; None is anything.
        new: what replaces it.
        what: what is replaced, for the message.
        batch: the batch, for the message.
    """
    rows = np.arange(len(tokens))
    found = tokens[rows, columns]
    wrong = np.flatnonzero(found != (found if old is None else old))
    if len(wrong):
        row = wrong[0]
        raise ValueError(
            f"TransformEosLangPairDataset: {what} {batch['id'][row]} is {found[row]}, but must be {old} to become {new}"
        )
    replaced = np.array(tokens)
    replaced[rows, columns] = new
    return replaced
