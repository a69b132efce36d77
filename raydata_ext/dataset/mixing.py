"""The order in which rows of several data sets are mixed, as positions in all of them below one another.

The orders are those of Hugging Face `datasets` 5.2 (`_interleave_map_style_datasets`), row for row.
"""

from __future__ import annotations

from math import isclose
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from raydata_ext.dataset.indexing import Positions

StoppingStrategy: TypeAlias = Literal["first_exhausted", "all_exhausted", "all_exhausted_without_replacement"]

_BLOCK = 1000
"""So many sources are drawn at a time; it is part of what a seed means."""


def mixed_in_turn(lengths: Sequence[int], strategy: StoppingStrategy) -> Positions:
    """One row of each after another.

    Args:
        lengths: rows of each data set.
        strategy: see `interleave_datasets`.

    Raises:
        ValueError: a data set without rows would have to give some.
    """
    starts, counts = _starts(lengths), np.array(lengths)
    turns = np.arange(counts.min() if strategy == "first_exhausted" else counts.max())[:, None]
    if strategy == "all_exhausted" and len(turns) and not counts.all():
        raise ValueError(f"data set {lengths.index(0)} has no rows; it cannot be mixed until all are used up")
    if strategy == "all_exhausted":
        positions: Positions = (turns % counts + starts).ravel()
    else:
        positions = (turns + starts)[turns < counts]
    return positions


def mixed_by_chance(
    lengths: Sequence[int], probabilities: Sequence[float], seed: int | None, strategy: StoppingStrategy
) -> Positions:
    """The next row of one that is drawn, again and again.

    Args:
        lengths: rows of each data set.
        probabilities: how likely each is drawn.
        seed: of the draws.
        strategy: see `interleave_datasets`.

    Raises:
        ValueError: probabilities are not valid, or the mixture would not end.
    """
    counts, drawn = np.array(lengths), _checked(probabilities, len(lengths)) > 0
    replaces = strategy != "all_exhausted_without_replacement"
    if replaces and (drawn & (counts == 0)).any():
        raise ValueError(f"data set {int(np.argmax(drawn & (counts == 0)))} has no rows, so none can be drawn of it")
    must_end = (counts > 0) if strategy != "first_exhausted" else drawn
    if (must_end & ~drawn).any():
        raise ValueError(f"data set {int(np.argmax(must_end & ~drawn))} is never drawn, so it is never used up")
    draws = _drawn_until_used_up(counts, must_end, probabilities, seed, any_ends=strategy == "first_exhausted")
    positions = np.full(len(draws), -1)
    for source, (start, count) in enumerate(zip(_starts(lengths).tolist(), lengths, strict=True)):
        places = np.flatnonzero(draws == source)
        if not replaces:
            places = places[:count]  # later draws of it are passed over
        positions[places] = start + np.arange(len(places)) % max(1, count)
    return positions[positions >= 0]


def _drawn_until_used_up(
    counts: NDArray[np.int64], must_end: NDArray[np.bool_], probabilities: Any, seed: int | None, *, any_ends: bool
) -> NDArray[np.int64]:
    """Sources, up to the draw with which one of those that must end has given all of its rows, or all of them have."""
    if not must_end.any():
        return np.empty(0, np.int64)
    generator = np.random.default_rng(seed)
    blocks: list[NDArray[np.int64]] = []
    left = counts.copy()
    while (left[must_end] > 0).all() if any_ends else (left[must_end] > 0).any():
        blocks.append(generator.choice(len(counts), size=_BLOCK, p=probabilities))
        left -= np.bincount(blocks[-1], minlength=len(counts))
    draws = np.concatenate(blocks)
    ends = [
        int(np.flatnonzero(draws == source)[counts[source] - 1])
        for source in np.flatnonzero(must_end & (left <= 0)).tolist()
    ]
    return draws[: (min(ends) if any_ends else max(ends)) + 1]


def _starts(lengths: Sequence[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *lengths[:-1]])


def _checked(probabilities: Sequence[float], count: int) -> NDArray[np.float64]:
    found = np.asarray(probabilities, np.float64)
    if len(found) != count:
        raise ValueError(f"there are {len(found)} probabilities for {count} data sets")
    if (found < 0).any() or not isclose(found.sum(), 1, abs_tol=1e-8):
        raise ValueError(f"probabilities are {found.tolist()}; they must not be negative and must add up to 1")
    return found
