from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.text.wrappers.bart_noise import (
    Replacement,
    insert_tokens,
    mask_spans,
    permute_sentences,
    poisson_lengths,
    rotate,
)

BOS, EOS, STOP, MASK = 0, 2, 4, 99
TEXT = st.lists(st.integers(5, 60), min_size=1, max_size=20).map(lambda words: np.array([BOS, *words, EOS]))
SEED = st.integers(0, 10_000).map(np.random.RandomState)


def replacement(length=1, random_ratio=0.0):
    return Replacement(MASK, random_ratio, 100, length)


@given(TEXT, SEED)
@settings(max_examples=60, deadline=None)
def test_rotation_keeps_the_ends_and_the_circle(text, rng):
    noisy = rotate(text, rng)
    inner = text[1:-1].tolist()
    assert (noisy[0], noisy[-1]) == (BOS, EOS)
    assert noisy[1:-1].tolist() in [inner[start:] + inner[:start] for start in range(len(inner))]


@given(st.lists(st.lists(st.integers(5, 60), min_size=1, max_size=4), min_size=1, max_size=6), st.floats(0, 1), SEED)
@settings(max_examples=80, deadline=None)
def test_sentences_change_places_whole(sentences, ratio, rng):
    text = np.array([BOS, *(token for sentence in sentences for token in [*sentence, STOP]), EOS])
    noisy = permute_sentences(text, ratio, STOP, rng).tolist()
    assert (noisy[0], noisy[-1]) == (BOS, EOS)
    found, rest = [], []
    for token in noisy[1:-1]:
        rest.append(token)
        if token == STOP:
            found.append(rest[:-1])
            rest = []
    assert (sorted(found), rest) == (sorted(sentences), [])
    moved = sum(new != old for new, old in zip(found, sentences, strict=True))
    assert moved <= math.ceil(len(sentences) * ratio)


def test_a_text_without_sentences_stays_as_it_is():
    assert permute_sentences(np.array([BOS, EOS]), 1.0, STOP, np.random.RandomState(0)).tolist() == [BOS, EOS]


@given(TEXT, st.integers(0, 6), st.floats(0, 1), SEED)
@settings(max_examples=80, deadline=None)
def test_tokens_are_put_in_anywhere_but_at_the_ends(text, count, ratio, rng):
    noisy = insert_tokens(text, count, replacement(random_ratio=ratio), rng).tolist()
    assert (noisy[0], noisy[-1], len(noisy)) == (BOS, EOS, len(text) + count)
    rest = iter(noisy)
    assert all(token in rest for token in text.tolist())
    assert noisy.count(MASK) >= count - math.ceil(count * ratio)


@given(TEXT, st.floats(0.05, 1), st.sampled_from([-1, 0, 1]), SEED)
@settings(max_examples=100, deadline=None)
def test_single_words_are_masked_deleted_or_replaced(text, ratio, length, rng):
    noisy = mask_spans(text, ratio, np.ones(len(text), bool), None, replacement(length), rng).tolist()
    count = math.ceil((len(text) - 2) * ratio)
    assert (noisy[0], noisy[-1]) == (BOS, EOS)
    assert noisy.count(MASK) == (0 if length == 0 else count)
    assert len(noisy) == len(text) - (count if length == 0 else 0)
    if length:
        assert all(new in {old, MASK} for new, old in zip(noisy, text.tolist(), strict=True))


def test_words_of_several_tokens_go_whole():
    text = np.array([BOS, *range(10, 19), EOS])
    starts = np.array([True, *[True, False, False] * 3, False])
    for length, expected in ((1, 7 + 2), (0, 6 + 2), (-1, 9 + 2)):
        noisy = mask_spans(text, 0.1, starts, None, replacement(length), np.random.RandomState(0))
        kept = [token for token in noisy.tolist() if 10 <= token < 19]
        assert len(noisy) == expected
        assert len(kept) == 6
        assert {token // 3 for token in np.array(kept) - 10} in [{0, 1}, {0, 2}, {1, 2}]


@given(TEXT, st.floats(0.05, 1), st.sampled_from([-1, 0, 1]), SEED)
@settings(max_examples=100, deadline=None)
def test_spans_hide_as_many_words_as_asked_at_most(text, ratio, length, rng):
    noisy = mask_spans(text, ratio, np.ones(len(text), bool), poisson_lengths(3.0), replacement(length), rng).tolist()
    kept = [token for token in noisy[1:-1] if token != MASK]
    rest = iter(text.tolist())
    assert (noisy[0], noisy[-1]) == (BOS, EOS)
    assert all(token in rest for token in kept)
    assert len(kept) >= len(text) - 2 - math.ceil((len(text) - 2) * ratio)


def test_random_tokens_stand_for_a_share_of_the_masks():
    text = np.array([BOS, *[7] * 20_000, EOS])
    noisy = mask_spans(
        text, 0.5, np.ones(len(text), bool), None, replacement(-1, random_ratio=0.3), np.random.RandomState(0)
    )
    changed = noisy[noisy != 7]
    assert (changed == MASK).mean() == pytest.approx(0.7, abs=0.02)
    assert changed[1:-1].min() >= 1


def test_lengths_of_spans_have_the_mean_asked_for():
    probabilities = poisson_lengths(3.0)
    assert probabilities.sum() == pytest.approx(1)
    assert (probabilities * np.arange(len(probabilities))).sum() == pytest.approx(3, abs=1e-4)
