"""The arithmetic of order, against loops that anyone can check by eye."""

from __future__ import annotations

from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.streaming.order import (
    before_permutation,
    dealt,
    even_cuts,
    permutation,
    picked,
    picks_until_used_up,
    round_robin,
    through_buffer,
)
from raydata_ext.streaming.seeds import Seed


def through_buffer_one_by_one(buffer, incoming, slots):
    buffer, emitted = buffer.copy(), []
    for row, slot in zip(incoming, slots, strict=True):
        emitted.append(buffer[slot])
        buffer[slot] = row
    return emitted, buffer


@pytest.mark.parametrize("size", [1, 2, 7, 1000, 65_536, 65_537, 300_000])
@pytest.mark.parametrize("rows", [1, 2, 999, 5000])
def test_a_window_through_a_buffer_is_what_its_rows_are_one_by_one(size, rows):
    generator = np.random.default_rng(size + rows)
    buffer, incoming = generator.integers(0, 1 << 40, size), generator.integers(0, 1 << 40, rows)
    slots = generator.integers(0, size, rows)
    before = buffer.copy()
    emitted, left = through_buffer(buffer, incoming, slots)
    expected, expected_left = through_buffer_one_by_one(buffer, incoming, slots)
    assert emitted.tolist() == expected
    assert left.tolist() == expected_left.tolist()
    assert buffer.tolist() == before.tolist()


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 9), st.lists(st.integers(0, 8), max_size=40))
def test_any_window_goes_through_any_buffer(size, slots):
    slots = np.array([slot % size for slot in slots], np.int64)
    emitted, left = through_buffer(np.arange(size), np.arange(100, 100 + len(slots)), slots)
    expected, expected_left = through_buffer_one_by_one(np.arange(size), np.arange(100, 100 + len(slots)), slots)
    assert emitted.tolist() == expected
    assert left.tolist() == expected_left.tolist()


def test_a_round_takes_one_row_of_each_group():
    assert round_robin(3, 2).tolist() == [0, 2, 4, 1, 3, 5]


def test_a_pick_takes_the_next_row_of_its_source():
    # two rows of source 0, then one of source 1, then three of source 2
    assert picked(np.array([2, 0, 2, 1, 0, 2])).tolist() == [3, 0, 4, 2, 1, 5]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 3), max_size=30), st.lists(st.integers(1, 9), min_size=4, max_size=4))
def test_picks_are_served_until_the_first_source_has_given_all(picks, available):
    served, left = 0, list(available)
    for pick in picks:
        left[pick] -= 1
        served += 1
        if left[pick] == 0:
            break
    assert picks_until_used_up(np.array(picks, np.int64), available) == served


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 50), st.integers(1, 12), st.booleans())
def test_all_shards_are_dealt_once_and_evenly(count, parts, contiguous):
    hands = [list(dealt(count, parts, index, contiguous=contiguous)) for index in range(parts)]
    assert sorted(chain(*hands)) == list(range(count))
    assert max(map(len, hands)) - min(map(len, hands)) <= 1
    if contiguous:
        assert list(chain(*hands)) == list(range(count))
        bounds = even_cuts(count, parts)
        assert [len(hand) for hand in hands] == [b - a for a, b in pairwise(bounds)]


def test_shards_are_permuted_like_a_list_is_shuffled():
    expected = list(range(20))
    np.random.default_rng(3).shuffle(expected)
    assert permutation(20, Seed(3)) == expected


def test_a_permutation_can_be_undone():
    shards = np.arange(20)
    assert shards[permutation(20, Seed(3))][before_permutation(20, Seed(3))].tolist() == shards.tolist()
