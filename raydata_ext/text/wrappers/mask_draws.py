"""Which tokens of an item are masked, and by what: drawn as fairseq draws, or by a counter, for many items at once.

Both ways a draw depends on seed, epoch and row only. What is drawn is the same: a share of the units of an item
(tokens, or whole words), as many as `share * units`, rounded up or down at random; each of them then becomes a mask,
keeps its token, or becomes a random one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from raydata_ext.text.contract.seeds import fairseq_random_state

if TYPE_CHECKING:
    from numpy.typing import NDArray


class MaskShares(NamedTuple):
    """How much is masked.

    Args:
        masked: share of units that are chosen.
        kept: share of those that keep their tokens.
        random: share of those whose tokens become random ones.
        cumulative: probability that a random token has a number up to each, shape (vocabulary,).
    """

    masked: float
    kept: float
    random: float
    cumulative: NDArray[np.float64]


class MaskDraw(NamedTuple):
    """What was drawn for the tokens of an item, or of several one after the other.

    Args:
        chosen: what the model has to predict, shape (tokens,).
        masked: which of these become the mask, shape (tokens,).
        random: which of these become random tokens, shape (tokens,).
        tokens: the random tokens, in order.
    """

    chosen: NDArray[np.bool_]
    masked: NDArray[np.bool_]
    random: NDArray[np.bool_]
    tokens: NDArray[np.int64]


def draw_like_fairseq(
    shares: MaskShares, words: NDArray[np.int64], num_tokens: int, seed: tuple[int, int, int]
) -> MaskDraw:
    """Draw for one item what fairseq's `MaskTokensDataset` draws.

    Args:
        shares: how much is masked.
        words: the unit that each token is in, from 0, -1 for tokens that are in none; ascending, shape (tokens,).
        num_tokens: tokens of the item.
        seed: seed, epoch and row.
    """
    random = fairseq_random_state(*seed)
    units = int(words[-1]) + 1 if num_tokens else 0
    count = int(shares.masked * units + random.rand())
    chosen = np.zeros(units, np.bool_)
    chosen[random.choice(units, count, replace=False) if units else []] = True
    changed = np.zeros(units, np.bool_)
    kept = changed
    if shares.random + shares.kept > 0:
        changed = chosen & (random.rand(units) < shares.random + shares.kept)
        if shares.random == 0:
            kept = changed
        elif shares.kept > 0:
            kept = changed & (random.rand(units) < shares.kept / (shares.random + shares.kept))
    masked, randomised = _of_units(words, chosen & ~kept), _of_units(words, changed & ~kept)
    drawn = random.random_sample(np.count_nonzero(randomised))
    tokens = np.searchsorted(shares.cumulative, drawn, side="right")
    return MaskDraw(_of_units(words, chosen), masked, randomised, tokens)


def draw_by_counter(
    shares: MaskShares,
    words: NDArray[np.int64],
    lengths: NDArray[np.int64],
    seed: int,
    epoch: int,
    rows: NDArray[np.int64],
) -> MaskDraw:
    """Draw for many items at once. What an item gets does not depend on which others are with it.

    The numbers are those of the generator SplitMix64 (Steele, Lea and Flood 2014), one for each row, of which any
    member can be computed from its place: the first decides on the rounding, then come three for each unit or token.

    Args:
        shares: how much is masked.
        words: the unit that each token is in, within its item, as in `draw_like_fairseq`; shape (tokens of all items,).
        lengths: tokens of each item, shape (items,).
        seed: the seed.
        epoch: the epoch.
        rows: number of each item, shape (items,).
    """
    keys = _row_keys(seed, epoch, rows)
    ends = np.cumsum(lengths)
    last = np.where(lengths > 0, words[np.maximum(ends, 1) - 1], -1) if len(words) else np.full(len(lengths), -1)
    units = last + 1
    counts = (shares.masked * units + _uniform(keys, np.zeros_like(units))).astype(np.int64)
    places = np.arange(units.max(initial=0))
    ranks = _number(keys[:, None], 1 + 3 * places)
    ranks[places >= units[:, None]] = np.iinfo(np.uint64).max
    limits = np.sort(ranks, axis=1)[np.arange(len(rows)), counts - 1] if len(places) else np.zeros(len(rows), np.uint64)
    chosen_units = (ranks <= limits[:, None]) & (counts > 0)[:, None]
    items = np.repeat(np.arange(len(lengths)), lengths)
    chosen = (words >= 0) & chosen_units[items, words] if len(places) else np.zeros(len(words), np.bool_)
    found = np.flatnonzero(chosen)
    fates = _uniform(keys[items[found]], 2 + 3 * words[found])
    masked, random = chosen.copy(), np.zeros_like(chosen)
    masked[found[fates < shares.kept]] = False
    random[found] = (fates >= shares.kept) & (fates < shares.kept + shares.random)
    changed = np.flatnonzero(random)
    tokens_before = np.arange(len(words)) - np.repeat(ends - lengths, lengths)
    drawn = _uniform(keys[items[changed]], 3 + 3 * tokens_before[changed])
    return MaskDraw(chosen, masked, random, np.searchsorted(shares.cumulative, drawn, side="right"))


def _of_units(words: NDArray[np.int64], flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return for each token what holds for its unit, and False where it has none."""
    return np.append(flags, [False])[words]


_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def _mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    state = (state ^ (state >> np.uint64(30))) * _MIX[0]
    state = (state ^ (state >> np.uint64(27))) * _MIX[1]
    state ^= state >> np.uint64(31)
    return state


def _number(keys: NDArray[np.uint64], places: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the numbers at some places of the generators with these keys."""
    return _mix(keys + (places.astype(np.uint64) + np.uint64(1)) * _GAMMA)


def _uniform(keys: NDArray[np.uint64], places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return these numbers as fractions, from 0 to below 1."""
    fractions: NDArray[np.float64] = (_number(keys, places) >> np.uint64(11)).astype(np.float64)
    fractions *= 2.0**-53
    return fractions


def _row_keys(seed: int, epoch: int, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a key for each row: each number is mixed with all before it, none is added to another."""
    key = np.zeros(len(rows), np.uint64)
    for number in (np.full(len(rows), seed), np.full(len(rows), epoch), rows):
        key = _number(key, number.astype(np.int64))
    return key
