"""Samples of a source and a target to a batch for a model that turns one into the other."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from raydata_ext.text.collate_tokens import Padding, ragged
from raydata_ext.text.contract.tensors import tensor_kind, to_array, to_tensors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

logger = logging.getLogger(__name__)


def collate(
    samples: Sequence[Mapping[str, Any]],
    pad_idx: int,
    eos_idx: int | None,
    left_pad_source: bool = True,
    left_pad_target: bool = False,
    input_feeding: bool = True,
    pad_to_length: Mapping[str, int] | None = None,
    pad_to_multiple: int = 1,
    *,
    return_tensors: str | None = None,
) -> dict[str, Any]:
    """Merge pairs to a batch; see `collate_pairs`, which this calls.

    Args:
        samples: see there, as for all others.
        pad_idx: see there.
        eos_idx: see there.
        left_pad_source: see there.
        left_pad_target: see there.
        input_feeding: see there.
        pad_to_length: see there.
        pad_to_multiple: see there.
        return_tensors: "np", "pt", or None for torch tensors where torch is installed.
    """
    source = Padding(pad_idx, left_pad_source, (pad_to_length or {}).get("source"), pad_to_multiple)
    target = Padding(pad_idx, left_pad_target, (pad_to_length or {}).get("target"), pad_to_multiple)
    batch = collate_pairs(samples, source, target, eos_idx=eos_idx, input_feeding=input_feeding)
    return to_tensors(batch, tensor_kind(return_tensors))  # type: ignore[no-any-return]


def collate_pairs(
    samples: Sequence[Mapping[str, Any]],
    source_padding: Padding,
    target_padding: Padding,
    *,
    eos_idx: int | None,
    input_feeding: bool = True,
) -> dict[str, Any]:
    """Merge pairs to a batch of arrays, longest source first; among equals in the order given.

    Args:
        samples: dicts of `id`, `source`, and perhaps `target`, `alignment` (pairs of positions, flat) and `constraints`
            (numbers). Whether there are any is told by the first. Rows may be filled up with padding.
        source_padding: how sources are filled up.
        target_padding: how targets are.
        eos_idx: what `prev_output_tokens` begin with; None is the last token of each target.
        input_feeding: whether there are `prev_output_tokens`.

    Returns:
        `id`, `nsentences`, `ntokens` (of targets, or of sources where there are none), `net_input` (`src_tokens`,
        `src_lengths`, `prev_output_tokens`: the target moved by one), `target` (or None); where words are aligned
        `alignments` of shape (pairs, 2), which count source positions in a padded row and target positions in the
        padded batch, and `align_weights`, one over the number of pairs of a target position; and `constraints`, filled
        up with 0. All int64, the weights float32. Lengths and `ntokens` do not count padding. Without samples, an empty
        dict.

    Source: `collate` of fairseq's `LanguagePairDataset`.
    """
    if not samples:
        return {}
    sources = ragged([sample["source"] for sample in samples])
    src_tokens = source_padding.fill(sources.tokens, source_padding.mask(sources.lengths), np.int64)
    src_lengths = sources.lengths_without(source_padding.pad_idx)
    order = np.argsort(-src_lengths, kind="stable")
    net_input = {"src_tokens": src_tokens.take(order, axis=0), "src_lengths": src_lengths[order]}
    batch: dict[str, Any] = {
        "id": np.fromiter([sample["id"] for sample in samples], np.int64)[order],
        "nsentences": len(samples),
        "ntokens": int(src_lengths.sum()),
        "net_input": net_input,
        "target": None,
    }
    if samples[0].get("target") is not None:
        target, shifted, tgt_lengths = _targets(samples, target_padding, eos_idx)
        batch["ntokens"] = int(tgt_lengths.sum())
        batch["target"] = target.take(order, axis=0)
        if input_feeding:
            net_input["prev_output_tokens"] = shifted.take(order, axis=0)
        if samples[0].get("alignment") is not None:
            lengths = np.stack([src_lengths, tgt_lengths], axis=1)[order]
            widths = (src_tokens.shape[1], target.shape[1])
            offsets = _first_positions(lengths, widths, (source_padding.left, target_padding.left))
            batch.update(_align([samples[row] for row in order], lengths, offsets))
    if samples[0].get("constraints") is not None:
        constraints = ragged([samples[row]["constraints"] for row in order])
        filling = Padding(0)
        batch["constraints"] = filling.fill(constraints.tokens, filling.mask(constraints.lengths), np.int64)
    return batch


def _targets(
    samples: Sequence[Mapping[str, Any]], padding: Padding, eos_idx: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the padded targets, these moved by one, and their lengths; in the order of the samples."""
    targets = ragged([sample["target"] for sample in samples])
    mask = padding.mask(targets.lengths)
    shifted = padding.fill(targets.shifted(eos_idx).tokens, mask, np.int64)
    return padding.fill(targets.tokens, mask, np.int64), shifted, targets.lengths_without(padding.pad_idx)


def _first_positions(lengths: NDArray[np.int64], widths: tuple[int, int], left: tuple[bool, bool]) -> NDArray[np.int64]:
    """Return what position 0 of each row becomes: in the padded source row, and in the flat padded targets."""
    offsets = np.where(left, np.array(widths) - lengths, 0)
    offsets[:, 1] += np.arange(len(lengths)) * widths[1]
    return offsets


def _align(
    samples: Sequence[Mapping[str, Any]], lengths: NDArray[np.int64], offsets: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """Return the alignments of a batch and their weights; nothing where no sample has one that fits.

    Args:
        samples: in the order of the batch.
        lengths: of sources and targets, shape (rows, 2).
        offsets: what is added to source and target positions of a row, shape (rows, 2).
    """
    kept = []
    for sample, row_lengths, row_offsets in zip(samples, lengths, offsets, strict=True):
        pairs = np.asarray(to_array(sample["alignment"]), np.int64).reshape(-1, 2)
        if not len(pairs):
            continue
        if (pairs.max(axis=0) >= row_lengths - 1).any():
            logger.warning(
                "sample %s: its alignment goes up to %s, past its source and target of %s tokens; it is left out",
                sample["id"],
                tuple(pairs.max(axis=0).tolist()),
                tuple(row_lengths.tolist()),
            )
            continue
        kept.append(pairs + row_offsets)
    if not kept:
        return {}
    alignments = np.concatenate(kept)
    _, which, counts = np.unique(alignments[:, 1], return_inverse=True, return_counts=True)
    return {"alignments": alignments, "align_weights": (1.0 / counts[which]).astype(np.float32)}
