from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.text.token_blocks import block_items, block_slices

SIZES = st.lists(st.integers(0, 12), max_size=25)


def greedy(sizes, block_size, separator_size, min_tokens):
    """Take items one after the other; the rule as it is told, without pointers."""
    slices, start, count, at = [], 0, 0, 0
    for size in [*sizes, None]:
        ends = size is None or size == separator_size
        if count and (ends or count + size > block_size):
            slices.append((start, start + count))
            start, count = at, 0
        if size is None:
            break
        at += size
        if ends:
            start = at
        else:
            count += size
    return [[begin, end] for begin, end in slices if end - begin >= min_tokens]


def test_whole_items_are_taken_as_long_as_they_fit():
    assert block_slices(np.array([5, 4, 2]), "complete", 6).tolist() == [[0, 5], [5, 11]]


def test_documents_end_at_separators_which_are_in_no_block():
    sizes = np.array([3, 4, 1, 5, 2, 1, 1, 2])
    assert block_slices(sizes, "complete_doc", 6).tolist() == [[0, 3], [3, 7], [8, 13], [13, 15], [17, 19]]


@given(SIZES, st.integers(1, 15))
@settings(max_examples=200, deadline=None)
def test_complete_equals_the_rule(sizes, block_size):
    assert block_slices(np.array(sizes, np.int64), "complete", block_size).tolist() == greedy(
        sizes, block_size, None, 1
    )


@given(SIZES, st.integers(1, 15), st.integers(0, 2))
@settings(max_examples=200, deadline=None)
def test_complete_doc_equals_the_rule(sizes, block_size, separator_size):
    found = block_slices(np.array(sizes, np.int64), "complete_doc", block_size, separator_size)
    assert found.tolist() == greedy(sizes, block_size, separator_size, 2)


@given(SIZES, st.integers(1, 15), st.sampled_from([None, "none", "complete"]))
@settings(max_examples=200, deadline=None)
def test_every_token_is_in_one_block_and_no_block_is_empty(sizes, block_size, mode):
    slices = block_slices(np.array(sizes, np.int64), mode, block_size)
    assert [position for start, end in slices for position in range(start, end)] == list(range(sum(sizes)))
    assert all(end > start for start, end in slices)


def test_every_item_is_a_block_with_eos_even_an_empty_one():
    assert block_slices(np.array([2, 0, 1]), "eos", None).tolist() == [[0, 2], [2, 2], [2, 3]]


def test_lengths_over_16_bits_are_right():
    sizes = np.array([70_000, 3], np.int32)
    assert block_slices(sizes, "complete", 512).tolist() == [[0, 70_000], [70_000, 70_003]]


@given(SIZES.filter(any), st.integers(1, 15), st.sampled_from(["none", "complete", "complete_doc", "eos"]))
@settings(max_examples=200, deadline=None)
def test_the_items_of_a_block_hold_its_first_and_its_last_token(sizes, block_size, mode):
    slices = block_slices(np.array(sizes, np.int64), mode, block_size)
    first, offset, last = block_items(np.array(sizes, np.int64), slices, mode)
    owner = [item for item, size in enumerate(sizes) for _ in range(size)]
    place = [position for size in sizes for position in range(size)]
    for (start, end), item, at, to in zip(slices.tolist(), first, offset, last, strict=True):
        if end > start:
            assert (item, at, to) == (owner[start], place[start], owner[end - 1])
        else:
            assert item == to


def test_no_items_make_no_blocks():
    for mode in ("none", "complete", "complete_doc", "eos"):
        slices = block_slices(np.empty(0, np.int64), mode, 4)
        assert slices.shape == (0, 2)
        assert [len(part) for part in block_items(np.empty(0, np.int64), slices, mode)] == [0, 0, 0]


def test_documents_of_which_none_is_kept_make_no_blocks():
    assert block_slices(np.array([1, 1, 1]), "complete_doc", 4).shape == (0, 2)


def test_unknown_modes_and_missing_sizes_are_errors():
    with pytest.raises(ValueError, match="Invalid break_mode: half"):
        block_slices(np.array([1]), "half", 4)
    for size in (None, 0):
        with pytest.raises(ValueError, match=f"block_size is {size}"):
            block_slices(np.array([1]), "complete", size)
