from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.text.token_block_dataset import TokenBlockDataset
from raydata_ext.text.wrappers.columns import ListDataset

PAD, EOS = 1, 2
CORPUS = st.lists(st.lists(st.integers(4, 99), max_size=7), min_size=1, max_size=12)


def blocks(rows, block_size, mode=None, **options):
    rows = [np.array(row, np.int64) for row in rows]
    return TokenBlockDataset(ListDataset(rows, [len(row) for row in rows]), None, block_size, PAD, EOS, mode, **options)


def test_blocks_by_mode():
    rows = [[5, 4, 3, 2, 1], [8, 7, 6, 1], [9, 1]]
    assert [block.tolist() for block in blocks(rows, 3)] == [[5, 4, 3], [2, 1, 8], [7, 6, 1], [9, 1]]
    assert [block.tolist() for block in blocks(rows, 6, "complete")] == [rows[0], rows[1] + rows[2]]
    assert [block.tolist() for block in blocks(rows, None, "eos")] == rows


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64])
@pytest.mark.parametrize("mode", ["none", "complete", "eos"])
def test_sizes_may_be_of_any_integer_type(dtype, mode):
    rows = [np.full(200, 7), np.full(100, 8)]
    dataset = TokenBlockDataset(rows, np.array([200, 100], dtype), 200, PAD, EOS, mode)
    assert [len(block) for block in dataset] == dataset.sizes.tolist() == [200, 100]


@given(CORPUS, st.integers(1, 9), st.sampled_from(["none", "complete", "complete_doc", "eos"]))
@settings(max_examples=150, deadline=None)
def test_blocks_are_runs_of_the_corpus_and_as_long_as_sizes_say(rows, block_size, mode):
    dataset = blocks(rows, block_size, mode)
    items = [block.tolist() for block in dataset]
    assert dataset.sizes.tolist() == [len(item) for item in items]
    text = "".join(map(chr, (token for row in rows for token in row)))
    assert all("".join(map(chr, item)) in text for item in items)
    if mode != "complete_doc":
        assert "".join(map(chr, (token for item in items for token in item))) == text


@given(CORPUS, st.integers(1, 9), st.sampled_from(["none", "complete", "eos"]))
@settings(max_examples=150, deadline=None)
def test_source_and_past_are_the_tokens_one_and_two_places_before(rows, block_size, mode):
    dataset = blocks(rows, block_size, mode, include_targets=True)
    for block in range(len(dataset)):
        source, future, past = (part.tolist() for part in dataset[block])
        first, offset = int(dataset._first[block]), int(dataset._offset[block])
        before = [PAD, EOS, *rows[first][:offset]][-2:]
        text = before + future
        assert (source, past) == (text[1:-1], text[:-2])


def test_a_block_of_one_token_has_targets_of_one_token():
    dataset = blocks([[5, 6, 7, 2], [8, 2]], 1, include_targets=True)
    assert [[part.tolist() for part in dataset[row]] for row in (0, 1, 2)] == [
        [[2], [5], [1]],
        [[5], [6], [2]],
        [[6], [7], [5]],
    ]


def test_a_token_after_an_empty_item_is_not_lost():
    assert [block.tolist() for block in blocks([[5, 6], [], [7]], 2, "complete")] == [[5, 6], [7]]


def test_an_item_of_100_000_tokens_is_cut_right():
    rows = [np.arange(100_000), np.arange(5)]
    dataset = blocks(rows, 512)
    assert np.concatenate(list(dataset)).tolist() == np.concatenate(rows).tolist()
    whole = blocks(rows, 512, "complete")
    assert (whole.sizes.tolist(), len(whole[0])) == ([100_000, 5], 100_000)


def test_the_child_is_not_changed_and_told_which_items_are_needed():
    told = []

    class Child(ListDataset):
        name = "child"
        supports_prefetch = True

        def prefetch(self, indices):
            told.append(np.asarray(indices).tolist())

    rows = [np.array([4, 5, 6, 2]), np.array([7, 8, 9, 2]), np.array([4, 2])]
    for row in rows:
        row.flags.writeable = False
    dataset = TokenBlockDataset(Child(rows, [4, 4, 2]), None, 3, PAD, EOS)
    assert dataset.supports_prefetch
    dataset.prefetch([0, 1])
    assert told == [[0, 1]]
    assert dataset.attr("name", 1) == "child"


def test_no_items_make_an_empty_dataset():
    dataset = blocks([], 4)
    assert (len(dataset), list(dataset), dataset.sizes.tolist()) == (0, [], [])


def test_sizes_that_do_not_fit_are_errors_that_name_the_block():
    with pytest.raises(ValueError, match=r"1 rows, but sizes of shape \(2,\)"):
        TokenBlockDataset([np.array([5])], [1, 2], 2, PAD, EOS)
    with pytest.raises(ValueError, match="block 0 lacks 2 tokens: items 0 to 0"):
        TokenBlockDataset([np.array([5])], [3], 4, PAD, EOS)[0]
    with pytest.raises(IndexError, match="TokenBlockDataset: index 1"):
        blocks([[5]], 4)[1]
