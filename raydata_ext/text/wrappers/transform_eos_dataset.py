"""Pairs with the end of sentence added or taken away when a batch is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset
from raydata_ext.text.contract.fairseq_dataset import FairseqDataset
from raydata_ext.text.contract.tensors import to_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from raydata_ext.text.contract.sizes import IntArray, Rows


class TransformEosDataset(BaseWrapperDataset):
    """Uses pairs in the other direction, where source and target end in another way.

    Items are those of the child. Sizes are those after the change.

    Args:
        dataset: the child; its items are dicts with `source` and `target`.
        eos: the end of sentence.
        append_eos_to_src: add it to sources, none of which may have it.
        remove_eos_from_src: take it from sources, all of which must have it.
        append_eos_to_tgt: add it to targets.
        remove_eos_from_tgt: take it from targets.
        has_target: whether sizes of rows are (source, target).

    Raises:
        ValueError: the child is no `FairseqDataset`, or the end of sentence is to be added and taken away. Or, in
            `collater`, a sentence does not end as it must.
    """

    def __init__(
        self,
        dataset: FairseqDataset,
        eos: int,
        append_eos_to_src: bool = False,
        remove_eos_from_src: bool = False,
        append_eos_to_tgt: bool = False,
        remove_eos_from_tgt: bool = False,
        has_target: bool = True,
    ) -> None:
        if not isinstance(dataset, FairseqDataset):
            raise ValueError(f"TransformEosDataset: dataset must be a FairseqDataset, not {type(dataset).__name__}")  # noqa: TRY004 - as in fairseq
        for side, append, remove in (
            ("src", append_eos_to_src, remove_eos_from_src),
            ("tgt", append_eos_to_tgt, remove_eos_from_tgt),
        ):
            if append and remove:
                raise ValueError(f"TransformEosDataset: cannot combine append_eos_to_{side} and remove_eos_from_{side}")
        super().__init__(dataset)
        self.eos = eos
        self.has_target = has_target
        self._changes = {
            "source": append_eos_to_src - remove_eos_from_src,
            "target": append_eos_to_tgt - remove_eos_from_tgt,
        }

    @override
    def collate_arrays(self, samples: Sequence[Mapping[str, Any]]) -> Any:
        changed = []
        for sample in samples:
            sides = {key: self._changed(key, sample, change) for key, change in self._changes.items() if change}
            changed.append({**sample, **sides})
        return children.collated(self.dataset, changed)

    @override
    def sizes_at(self, rows: Rows) -> IntArray:
        sizes = np.array(children.lengths_of(self.dataset, rows, sides=True))
        source = sizes if sizes.ndim == 1 else sizes[:, 0]
        source += self._changes["source"]
        if sizes.ndim > 1 and self.has_target:
            sizes[:, 1] += self._changes["target"]
        return sizes

    def _changed(self, key: str, sample: Mapping[str, Any], change: int) -> NDArray[np.int64]:
        if sample.get(key) is None:
            raise ValueError(f"TransformEosDataset: sample {sample.get('id')} has no {key}")
        tokens = to_tokens(sample[key])
        has_eos = bool(len(tokens) and tokens[-1] == self.eos)
        if has_eos != (change < 0):
            found = "ends" if has_eos else "does not end"
            raise ValueError(
                f"TransformEosDataset: the {key} of sample {sample.get('id')} {found} with {self.eos}, "
                f"which is to be {'added' if change > 0 else 'taken away'}"
            )
        return tokens[:-1] if has_eos else np.append(tokens, self.eos)
