from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.text.wrappers.mask_draws import MaskShares, draw_by_counter, draw_like_fairseq

CUMULATIVE = np.concatenate([np.zeros(4), np.arange(1, 97) / 96])


def shares(masked=0.3, kept=0.2, random=0.3):
    return MaskShares(masked, kept, random, CUMULATIVE)


def splitmix(seed):
    """SplitMix64, number after number, as its authors give it."""
    mask = 2**64 - 1
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield z ^ (z >> 31)


def numbers_at(seed, count):
    generator = splitmix(seed)
    return [next(generator) for _ in range(count)]


def number_at(seed, place):
    return next(splitmix((seed + place * 0x9E3779B97F4A7C15) & (2**64 - 1)))


def test_the_generator_of_these_tests_is_splitmix64():
    assert numbers_at(1234567, 2) == [6457827717110365317, 3203168211198807973]  # published values
    assert number_at(1234567, 1) == 3203168211198807973


@given(st.lists(st.integers(0, 12), min_size=1, max_size=6), st.integers(0, 2**31), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_draws_by_counter_equal_a_loop_over_the_generator(lengths, seed, epoch):
    rows = np.arange(len(lengths)) * 7
    words = np.concatenate([np.arange(length) for length in lengths]).astype(np.int64)
    draw = draw_by_counter(shares(), words, np.array(lengths), seed, epoch, rows)
    start, tokens = 0, iter(draw.tokens.tolist())
    for row, length in zip(rows.tolist(), lengths, strict=True):
        key = 0
        for number in (seed, epoch, row):
            key = number_at(key, number)
        stream = numbers_at(key, 1 + 3 * length)
        fraction = [number / 2**64 for number in stream]
        count = int(0.3 * length + fraction[0])
        ranked = sorted(range(length), key=lambda place: stream[1 + 3 * place])[:count]
        for place in range(length):
            at = start + place
            chosen, fate = place in ranked, fraction[2 + 3 * place]
            assert draw.chosen[at] == chosen
            assert draw.masked[at] == (chosen and fate >= 0.2)
            assert draw.random[at] == (chosen and 0.2 <= fate < 0.5)
            if draw.random[at]:
                assert next(tokens) == np.searchsorted(CUMULATIVE, fraction[3 + 3 * place], side="right")
        start += length


def test_what_a_row_gets_does_not_depend_on_the_others_with_it():
    words = np.concatenate([np.arange(20), np.arange(9)])
    both = draw_by_counter(shares(), words, np.array([20, 9]), 1, 2, np.array([5, 3]))
    alone = draw_by_counter(shares(), words[20:], np.array([9]), 1, 2, np.array([3]))
    assert both.chosen[20:].tolist() == alone.chosen.tolist()
    assert both.masked[20:].tolist() == alone.masked.tolist()
    assert both.tokens.tolist()[-len(alone.tokens) or 29 :] == alone.tokens.tolist()


@pytest.mark.parametrize("words", [np.arange(10_000), np.repeat(np.arange(5_000), 2)])
def test_shares_are_those_asked_for_either_way(words):
    draws = [
        draw_by_counter(shares(), words, np.array([len(words)]), 1, 1, np.array([0])),
        draw_like_fairseq(shares(), words, len(words), (1, 1, 0)),
    ]
    for draw in draws:
        assert draw.chosen.mean() == pytest.approx(0.3, abs=0.001)
        assert (draw.chosen & ~draw.masked).sum() / draw.chosen.sum() == pytest.approx(0.2, abs=0.03)
        assert draw.random.sum() / draw.chosen.sum() == pytest.approx(0.3, abs=0.03)
        assert draw.tokens.min() >= 4
        assert draw.tokens.max() <= 99
        assert len(draw.tokens) == draw.random.sum()


def test_tokens_of_a_word_share_its_fate_and_tokens_before_the_first_word_are_never_chosen():
    words = np.array([-1, -1, *np.repeat(np.arange(50), 3)])
    for draw in (
        draw_by_counter(shares(0.5), words, np.array([len(words)]), 1, 1, np.array([0])),
        draw_like_fairseq(shares(0.5), words, len(words), (1, 1, 0)),
    ):
        assert not draw.chosen[:2].any()
        for flags in (draw.chosen, draw.masked, draw.random):
            assert (flags[2:].reshape(-1, 3) == flags[2::3, None]).all()


def test_no_items_and_no_shares_draw_nothing():
    none = np.empty(0, np.int64)
    assert len(draw_by_counter(shares(), none, none, 1, 1, none).chosen) == 0
    assert len(draw_by_counter(shares(), none, np.zeros(2, np.int64), 1, 1, np.arange(2)).chosen) == 0
    assert len(draw_like_fairseq(shares(), none, 0, (1, 1, 0)).chosen) == 0
    assert not draw_by_counter(shares(0), np.arange(9), np.array([9]), 1, 1, np.array([0])).chosen.any()
    assert draw_by_counter(shares(1), np.arange(9), np.array([9]), 1, 1, np.array([0])).chosen.all()
