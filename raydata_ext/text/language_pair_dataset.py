"""Pairs of a source and a target sentence, for translation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from typing_extensions import override

from raydata_ext.text.collate_tokens import Padding
from raydata_ext.text.contract import children
from raydata_ext.text.contract.parent_dataset import ParentDataset
from raydata_ext.text.contract.seeds import fairseq_random_state
from raydata_ext.text.contract.sizes import IntArray, Rows, as_sizes, position, sort_by_size
from raydata_ext.text.contract.tensors import tensor_kind, to_tensors, to_tokens
from raydata_ext.text.pair_batch import collate_pairs
from raydata_ext.text.size_buckets import get_bucketed_sizes, get_buckets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from raydata_ext.text.dictionary import Dictionary


class LanguagePairDataset(ParentDataset):
    """Two datasets of tokens, row by row.

    An item is a dict of `id`, `source`, `target` (None without a target side) and, with `align_dataset`, `alignment`.
    The size of a row is (source, target), as the sizes given say; the target's is 0 where there is none. With
    `num_buckets` it is what they are filled up to, and batches have few shapes, see `get_batch_shapes`.

    Args:
        src: source sentences.
        src_sizes: their lengths; None for what `src` says.
        src_dict: their dictionary.
        tgt: target sentences, as many.
        tgt_sizes: their lengths; None for what `tgt` says.
        tgt_dict: their dictionary, with special symbols as in `src_dict`.
        left_pad_source: whether sources are filled up in front.
        left_pad_target: whether targets are.
        max_source_positions: not used here; models' limits belong to `filter_indices_by_size`.
        max_target_positions: the same.
        shuffle: whether rows of equal sizes come in random order.
        input_feeding: whether batches have `prev_output_tokens`.
        remove_eos_from_source: take an end of sentence from sources that have it.
        append_eos_to_target: give targets one that lack it.
        align_dataset: alignments, flat pairs of source and target positions.
        append_bos: begin sources and targets that do not with the beginning of sentence.
        constraints: numbers for each row, put into batches, such as tokens that its translation must have.
        num_buckets: to how many lengths, at most, sources and targets are filled up; 0 is not to.
        eos: the end of sentence that `prev_output_tokens` begin with; None is that of `src_dict`.
        src_lang_id: put into `net_input` of batches, for each row.
        tgt_lang_id: put into batches, for each row.
        pad_to_multiple: of what widths of batches are made multiples.
        seed: of the random order.

    Raises:
        ValueError: sides or dictionaries do not fit together.
    """

    def __init__(  # noqa: PLR0917 - fairseq's order
        self,
        src: Any,
        src_sizes: Any,
        src_dict: Dictionary,
        tgt: Any = None,
        tgt_sizes: Any = None,
        tgt_dict: Dictionary | None = None,
        left_pad_source: bool = True,
        left_pad_target: bool = False,
        max_source_positions: int = 1024,
        max_target_positions: int = 1024,
        shuffle: bool = True,
        input_feeding: bool = True,
        remove_eos_from_source: bool = False,
        append_eos_to_target: bool = False,
        align_dataset: Any = None,
        append_bos: bool = False,
        *,
        constraints: Any = None,
        num_buckets: int = 0,
        eos: int | None = None,
        src_lang_id: int | None = None,
        tgt_lang_id: int | None = None,
        pad_to_multiple: int = 1,
        seed: int = 1,
    ) -> None:
        _require_same_symbols(src_dict, tgt_dict)
        self.src = src
        self.tgt = tgt
        self.align_dataset = align_dataset
        self._sides = [_side(self, "source", src, src_sizes, len(src))]
        if tgt is not None:
            self._sides.append(_side(self, "target", tgt, tgt_sizes, len(src)))
        elif align_dataset is not None:
            raise ValueError("LanguagePairDataset: alignments need a target side; give tgt")
        for name, rows in (("align_dataset", align_dataset), ("constraints", constraints)):
            if rows is not None and len(rows) != len(src):
                raise ValueError(f"LanguagePairDataset: {len(src)} sources, but {name} has {len(rows)} rows")
        self.src_dict = src_dict
        self.tgt_dict = tgt_dict
        self.left_pad_source = left_pad_source
        self.left_pad_target = left_pad_target
        self.max_source_positions = max_source_positions
        self.max_target_positions = max_target_positions
        self.shuffle = shuffle
        self.input_feeding = input_feeding
        self.remove_eos_from_source = remove_eos_from_source
        self.append_eos_to_target = append_eos_to_target
        self.append_bos = append_bos
        self.constraints = constraints
        self.num_buckets = num_buckets
        if num_buckets:
            self._sides = [get_bucketed_sizes(side, get_buckets(side, num_buckets)) for side in self._sides]
        self.eos = src_dict.eos() if eos is None else eos
        self.src_lang_id = src_lang_id
        self.tgt_lang_id = tgt_lang_id
        self.pad_to_multiple = pad_to_multiple
        self.seed = seed

    @property
    def src_sizes(self) -> IntArray:
        """Lengths of the sources, shape (rows,)."""
        return self._sides[0]

    @property
    def tgt_sizes(self) -> IntArray | None:
        """Lengths of the targets, shape (rows,); None without a target side."""
        return self._sides[1] if self.tgt is not None else None

    @property
    @override
    def children(self) -> Sequence[Any]:
        return [child for child in (self.src, self.tgt, self.align_dataset) if child is not None]

    @override
    def __len__(self) -> int:
        return len(self.src)

    @override
    def __getitem__(self, index: SupportsIndex) -> dict[str, Any]:
        return self.__getitems__([position(index, self)])[0]

    @override
    def __getitems__(self, indices: Sequence[int]) -> list[dict[str, Any]]:
        rows = [position(index, self) for index in indices]
        sources = map(self._source, children.items_of(self.src, rows))
        targets = map(self._target, [None] * len(rows) if self.tgt is None else children.items_of(self.tgt, rows))
        samples = [
            {"id": row, "source": source, "target": target}
            for row, source, target in zip(rows, sources, targets, strict=True)
        ]
        for key, dataset in (("alignment", self.align_dataset), ("constraints", self.constraints)):
            if dataset is not None:
                for sample, item in zip(samples, children.items_of(dataset, rows), strict=True):
                    sample[key] = item
        return [self._bucketed(sample) for sample in samples] if self.num_buckets else samples

    @override
    def collater(
        self,
        samples: Sequence[Mapping[str, Any]],
        pad_to_length: Mapping[str, int] | None = None,
        *,
        return_tensors: str | None = None,
    ) -> Any:
        """Merge pairs to a batch, see `collate_pairs`.

        Args:
            samples: items.
            pad_to_length: widths at least, of "source" and "target".
            return_tensors: see `FairseqDataset.collater`.
        """
        kind = self.return_tensors if return_tensors is None else tensor_kind(return_tensors)
        return to_tensors(self.collate_arrays(samples, pad_to_length), kind)

    @override
    def collate_arrays(
        self, samples: Sequence[Mapping[str, Any]], pad_to_length: Mapping[str, int] | None = None
    ) -> dict[str, Any]:
        """See `collater`."""
        pad, widths = self.src_dict.pad(), pad_to_length or {}
        batch = collate_pairs(
            samples,
            Padding(pad, self.left_pad_source, widths.get("source"), self.pad_to_multiple),
            Padding(pad, self.left_pad_target, widths.get("target"), self.pad_to_multiple),
            eos_idx=self.eos,
            input_feeding=self.input_feeding,
        )
        if batch and self.src_lang_id is not None:
            batch["net_input"]["src_lang_id"] = np.full((len(samples), 1), self.src_lang_id, np.int64)
        if batch and self.tgt_lang_id is not None:
            batch["tgt_lang_id"] = np.full((len(samples), 1), self.tgt_lang_id, np.int64)
        return batch

    @override
    def sizes_at(self, rows: Rows) -> IntArray:
        sides = [side[rows] for side in self._sides]
        return np.stack([sides[0], sides[1] if len(sides) > 1 else np.zeros_like(sides[0])], axis=1)

    @override
    def num_tokens_vec(self, indices: Any) -> IntArray:
        rows = np.asarray(indices, np.int64)
        sides = [side[rows] for side in self._sides]
        return np.maximum.reduce(sides)  # type: ignore[no-any-return]

    @override
    def ordered_indices(self) -> NDArray[np.int64]:
        """Return rows from short to long; equal ones in the order of `seed`, or as they are.

        They are sorted by source, then target; with `num_buckets` by the longer of the two, which shapes go by.
        """
        rows = np.arange(len(self))
        if self.shuffle:
            rows = fairseq_random_state(self.seed).permutation(len(self))
        if self.num_buckets:
            return sort_by_size(rows, np.maximum.reduce(self._sides))
        for side in reversed(self._sides):
            rows = sort_by_size(rows, side)
        return rows

    @override
    def get_batch_shapes(self) -> Sequence[tuple[int | None, int]] | None:
        """Return with `num_buckets` a shape for each length, of as many rows as `max_tokens` allows; else None."""
        if not self.num_buckets or not len(self):
            return None
        return [(None, length) for length in np.unique(np.maximum.reduce(self._sides)).tolist()]

    def _bucketed(self, sample: dict[str, Any]) -> dict[str, Any]:
        for key, side, left in zip(
            ("source", "target"), self._sides, (self.left_pad_source, self.left_pad_target), strict=False
        ):
            padding = Padding(self.src_dict.pad(), left)
            sample[key] = padding.extended(to_tokens(sample[key]), int(side[sample["id"]]))
        return sample

    def _source(self, item: Any) -> Any:
        if not (self.append_bos or self.remove_eos_from_source):
            return item
        tokens = to_tokens(item)
        if self.append_bos:
            tokens = _beginning_with(self.src_dict.bos(), tokens)
        if self.remove_eos_from_source and len(tokens) and tokens[-1] == self.src_dict.eos():
            tokens = tokens[:-1]
        return tokens

    def _target(self, item: Any) -> Any:
        if item is None or not (self.append_bos or self.append_eos_to_target):
            return item
        tokens = to_tokens(item)
        dictionary = self.tgt_dict or self.src_dict
        if self.append_eos_to_target and not (len(tokens) and tokens[-1] == dictionary.eos()):
            tokens = np.append(tokens, dictionary.eos())
        return _beginning_with(dictionary.bos(), tokens) if self.append_bos else tokens


def _beginning_with(token: int, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
    return tokens if len(tokens) and tokens[0] == token else np.concatenate(([token], tokens))


def _side(owner: LanguagePairDataset, name: str, child: Any, sizes: Any, rows: int) -> IntArray:
    lengths = as_sizes(children.sizes_of(child, slice(None)) if sizes is None else sizes, owner)
    if len(child) != rows or lengths.shape != (rows,):
        raise ValueError(
            f"LanguagePairDataset: {rows} sources, but the {name} side has {len(child)} rows "
            f"and sizes of shape {lengths.shape}"
        )
    return lengths


def _require_same_symbols(src_dict: Dictionary, tgt_dict: Dictionary | None) -> None:
    for symbol in ("pad", "eos", "unk"):
        if tgt_dict is not None and getattr(src_dict, symbol)() != getattr(tgt_dict, symbol)():
            raise ValueError(
                f"LanguagePairDataset: {symbol} is {getattr(src_dict, symbol)()} in the source dictionary "
                f"and {getattr(tgt_dict, symbol)()} in that of the target; they must be equal"
            )
