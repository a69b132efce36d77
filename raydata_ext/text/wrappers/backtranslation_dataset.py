"""Sentences with translations that a model makes of each batch."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset
from raydata_ext.text.contract.tensors import to_arrays, to_tensors, to_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from raydata_ext.text.contract.sizes import IntArray, Rows
    from raydata_ext.text.dictionary import Dictionary


class BacktranslationDataset(BaseWrapperDataset):
    """A batch is made of pairs: a translation that was generated, and the sentence that it is of.

    Generating is done in `collater`, in the process that calls it: keep data loaders without workers if the function
    needs a model on a GPU. The length of a translation is not known beforehand; that of the sentence stands for it.

    Args:
        tgt_dataset: the child; its items are dicts with `id` and `source`, and its batches what the function takes.
        src_dict: dictionary of the translations.
        tgt_dict: dictionary of the sentences; None for the same.
        backtranslation_fn: called with a batch of the child, returns for each of its rows the hypotheses, best first,
            each with `tokens`. None if it is set later.
        output_collater: makes the batch of the pairs; None for the child's.
        cuda: whether the function gets its batch on the GPU, if there is one.
        kwargs: passed to the function.
    """

    def __init__(
        self,
        tgt_dataset: Any,
        src_dict: Dictionary,
        tgt_dict: Dictionary | None = None,
        backtranslation_fn: Callable[..., Any] | None = None,
        output_collater: Callable[[list[dict[str, Any]]], Any] | None = None,
        cuda: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(tgt_dataset)
        self.tgt_dataset = tgt_dataset
        self.src_dict = src_dict
        self.tgt_dict = src_dict if tgt_dict is None else tgt_dict
        self.backtranslation_fn = backtranslation_fn
        self.output_collater = output_collater
        self.cuda = cuda
        self._options = kwargs

    def set_backtranslation_fn(self, backtranslation_fn: Callable[..., Any]) -> None:
        """Set the function that generates translations."""
        self.backtranslation_fn = backtranslation_fn

    @override
    def collate_arrays(self, samples: Sequence[Mapping[str, Any]]) -> Any:
        """Translate a batch and merge the pairs; samples that are marked `is_dummy` come back as they are.

        Raises:
            ValueError: there is no function yet, or it does not return something for each row.
        """
        if not samples:
            return children.collated(self.dataset, samples)
        if samples[0].get("is_dummy", False):
            return list(samples)
        pairs = self._translate(samples)
        if self.output_collater is None:
            return children.collated(self.dataset, pairs)
        return to_arrays(self.output_collater(pairs))

    @override
    def sizes_at(self, rows: Rows) -> IntArray:
        lengths = children.lengths_of(self.dataset, rows, sides=True)
        lengths = lengths if lengths.ndim == 1 else lengths[:, 0]
        return np.stack([lengths, lengths], axis=1)

    def _translate(self, samples: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        if self.backtranslation_fn is None:
            raise ValueError("BacktranslationDataset: there is no backtranslation_fn; call set_backtranslation_fn")
        keys = _keys(samples)
        batch = children.collated(self.dataset, [{**s, "id": key} for s, key in zip(samples, keys, strict=True)])
        hypotheses = self.backtranslation_fn(self._on_device(batch), **self._options)
        if len(hypotheses) != len(samples):
            raise ValueError(
                f"BacktranslationDataset: backtranslation_fn returned {len(hypotheses)} results for {len(samples)} rows"
            )
        # Rows of a batch are sorted by length, so results are told apart by the ids of the batch.
        by_key = dict(zip(np.asarray(batch["id"]).tolist(), hypotheses, strict=True))
        return [
            {"id": sample["id"], "source": to_tokens(by_key[key][0]["tokens"]), "target": sample["source"]}
            for sample, key in zip(samples, keys, strict=True)
        ]

    def _on_device(self, batch: Any) -> Any:
        tensors = to_tensors(batch, self.return_tensors)
        torch = sys.modules.get("torch")
        if self.return_tensors == "np" or not self.cuda or torch is None or not torch.cuda.is_available():
            return tensors
        return _moved(tensors)


def _keys(samples: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return a number for each sample: its id, or its place where ids repeat, as those of several corpora do."""
    ids = [int(sample["id"]) for sample in samples]
    return ids if len(set(ids)) == len(ids) else list(range(len(ids)))


def _moved(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _moved(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_moved(part) for part in value]
    return value.cuda() if hasattr(value, "cuda") else value
