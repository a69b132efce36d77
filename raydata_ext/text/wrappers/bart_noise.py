"""The noise of BART on one text: sentences exchanged, spans masked, tokens put in, the text turned round.

A text begins with the beginning of sentence and ends with the end of sentence; both stay where they are. Each function
returns a new array.

Source: Lewis et al., BART, 2019; the procedure is that of fairseq's `DenoisingDataset`, with a generator of its own
instead of torch's global one, so that draws can be repeated.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Replacement(NamedTuple):
    """What stands for tokens that are masked, or put in.

    Args:
        mask_idx: the mask.
        random_ratio: share of masks that are random tokens instead.
        vocab_size: these are from 1 to below this number.
        length: tokens that stand for a span: 0 for none, 1 for a single one, -1 for as many as there were.
    """

    mask_idx: int
    random_ratio: float
    vocab_size: int
    length: int

    def draw(self, count: int, rng: np.random.RandomState) -> NDArray[np.int64]:
        """Return masks and random tokens."""
        is_random = rng.random_sample(count) < self.random_ratio
        return np.where(is_random, self.random_tokens(count, rng), self.mask_idx)

    def random_tokens(self, count: int, rng: np.random.RandomState) -> NDArray[np.int64]:
        """Return random tokens."""
        return rng.randint(1, self.vocab_size, count, dtype=np.int64)


def permute_sentences(
    tokens: NDArray[np.int64], ratio: float, full_stop: int, rng: np.random.RandomState
) -> NDArray[np.int64]:
    """Exchange a share of the sentences with one another.

    Args:
        tokens: the text.
        ratio: the share, from 0 to 1.
        full_stop: the token that ends a sentence.
        rng: what draws.
    """
    stops = tokens[1:-1] == full_stop
    if not len(stops):
        return tokens
    stops[-1] = True  # whatever comes last is a sentence
    ends = np.flatnonzero(stops & ~np.append([False], stops[:-1])) + 1
    if ends[-1] != len(stops):
        ends[-1] = len(stops)  # several full stops in a row at the end
    moved = rng.permutation(len(ends))[: math.ceil(len(ends) * ratio)]
    order = np.arange(len(ends))
    order[moved] = moved[rng.permutation(len(moved))]
    sentences = np.split(tokens[1:-1], ends[:-1])
    return np.concatenate([tokens[:1], *(sentences[number] for number in order), tokens[-1:]])


def mask_spans(
    tokens: NDArray[np.int64],
    ratio: float,
    word_starts: NDArray[np.bool_],
    span_lengths: NDArray[np.float64] | None,
    replacement: Replacement,
    rng: np.random.RandomState,
) -> NDArray[np.int64]:
    """Mask a share of the words, in spans.

    Args:
        tokens: the text.
        ratio: the share, from 0 to 1.
        word_starts: which tokens begin a word, shape (tokens,).
        span_lengths: probability of a span of 0, 1, 2, ... words; a span of none is a mask put in. None for one word
            each.
        replacement: what stands for a span.
        rng: what draws.
    """
    starts = word_starts.copy()
    starts[[0, -1]] = False
    words = np.flatnonzero(starts)
    budget = math.ceil(len(words) * ratio)
    if budget == 0:
        return tokens
    lengths = np.ones(budget, np.int64) if span_lengths is None else _draw_lengths(budget, span_lengths, rng)
    inserts = int(np.count_nonzero(lengths == 0))
    lengths = lengths[lengths > 0]
    first = rng.permutation(len(words))[: len(lengths)]
    covered, begun = _cover(tokens, words, first, lengths)
    if replacement.length == 0:
        masked = tokens[~covered]
    else:
        shown = covered if replacement.length < 0 else begun
        masked = tokens.copy()
        masked[shown] = replacement.draw(int(np.count_nonzero(shown)), rng)
        masked = masked[~covered | shown]
    return insert_tokens(masked, inserts, replacement, rng)


def insert_tokens(
    tokens: NDArray[np.int64], count: int, replacement: Replacement, rng: np.random.RandomState
) -> NDArray[np.int64]:
    """Put masks and random tokens in, anywhere but at the ends.

    Args:
        tokens: the text.
        count: how many.
        replacement: what is put in; of random tokens there are as many as its ratio says, rounded up.
        rng: what draws.
    """
    if count == 0:
        return tokens
    places = rng.permutation(len(tokens) + count - 2)[:count] + 1
    num_random = math.ceil(count * replacement.random_ratio)
    inserted = np.zeros(len(tokens) + count, np.bool_)
    inserted[places] = True
    noisy = np.empty(len(inserted), np.int64)
    noisy[~inserted] = tokens
    noisy[places[num_random:]] = replacement.mask_idx
    noisy[places[:num_random]] = replacement.random_tokens(num_random, rng)
    return noisy


def rotate(tokens: NDArray[np.int64], rng: np.random.RandomState) -> NDArray[np.int64]:
    """Begin the text at another of its tokens; what stood before follows at the end."""
    offset = rng.randint(1, max(1, len(tokens) - 1) + 1)
    return np.concatenate((tokens[:1], tokens[offset:-1], tokens[1:offset], tokens[-1:]))


def poisson_lengths(mean: float) -> NDArray[np.float64]:
    """Return the probability of a span of 0, 1, 2, ... words, as far as it is not negligible."""
    probabilities = [math.exp(-mean)]
    while probabilities[-1] >= 1e-7 and len(probabilities) < 128:  # noqa: PLR2004 - where fairseq stops
        probabilities.append(probabilities[-1] * mean / len(probabilities))
    return np.array(probabilities) / sum(probabilities)


def _draw_lengths(budget: int, span_lengths: NDArray[np.float64], rng: np.random.RandomState) -> NDArray[np.int64]:
    """Return lengths of spans that together are `budget` words."""
    lengths = np.empty(0, np.int64)
    while lengths.sum() < budget:
        lengths = np.append(lengths, rng.choice(len(span_lengths), budget, p=span_lengths))
    totals = np.cumsum(lengths)
    last = int(np.searchsorted(totals, budget))
    lengths[last] -= totals[last] - budget
    return lengths[: last + 1]


def _cover(
    tokens: NDArray[np.int64], words: NDArray[np.int64], first: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which tokens are in a span, and which begin one; spans that overlap are one.

    Args:
        tokens: the text.
        words: where words begin.
        first: the word that each span begins with.
        lengths: words of each span; what passes the end is cut off.
    """
    bounds = np.append(words, len(tokens) - 1)
    starts = bounds[first]
    depth = np.zeros(len(tokens) + 1, np.int64)
    np.add.at(depth, starts + 1, 1)
    np.add.at(depth, bounds[np.minimum(first + lengths, len(words))], -1)
    continued = depth[:-1].cumsum() > 0
    begun = np.zeros(len(tokens), np.bool_)
    begun[starts] = True
    return continued | begun, begun & ~continued
