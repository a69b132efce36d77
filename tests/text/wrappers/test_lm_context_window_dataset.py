from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.monolingual_dataset import MonolingualDataset
from raydata_ext.text.token_block_dataset import TokenBlockDataset
from raydata_ext.text.wrappers.columns import ListDataset
from raydata_ext.text.wrappers.lm_context_window_dataset import LMContextWindowDataset

PAD = 1


def windows(rows, block_size, window):
    rows = [np.array(row) for row in rows]
    child = ListDataset(rows, [len(row) for row in rows])
    blocks = TokenBlockDataset(child, None, block_size, PAD, 2, "complete", include_targets=True)
    vocab = Dictionary()
    return LMContextWindowDataset(
        MonolingualDataset(blocks, None, vocab, vocab, False, False, ["future"]), block_size, window, PAD
    )


def in_sequence(rows, tokens_per_sample, window):
    """What fairseq does: rows one after the other, with the tokens so far in hand."""
    before, found = [], []
    for row in rows:
        extra = len(before) + len(row) - (tokens_per_sample + window)
        before = before[max(extra, 0) :]
        found.append(before)
        before = (before + row)[-window:]
    return found


@given(
    st.lists(st.lists(st.integers(4, 40), min_size=1, max_size=5), min_size=1, max_size=8),
    st.integers(5, 8),
    st.integers(1, 9),
    st.randoms(use_true_random=False),
)
@settings(max_examples=60, deadline=None)
def test_contexts_are_those_of_rows_in_sequence_whatever_order_they_are_asked_in(rows, block_size, window, random):
    dataset = windows(rows, block_size, window)
    sources = [dataset.dataset[row]["source"].tolist() for row in range(len(dataset))]
    expected = in_sequence(sources, block_size, window)
    order = random.sample(range(len(dataset)), len(dataset))
    batch = dataset.collater([dataset[row] for row in order], return_tensors="np")
    width = max(map(len, sources)) + window
    for place, row in enumerate(order):
        filled = expected[row] + sources[row]
        target = [PAD] * len(expected[row]) + dataset.dataset[row]["target"].tolist()
        assert batch["net_input"]["src_tokens"][place].tolist() == filled + [PAD] * (width - len(filled))
        assert batch["target"][place].tolist() == target + [PAD] * (width - len(target))
        assert batch["net_input"]["src_lengths"][place] == len(filled)
        assert batch["start_indices"][place] == len(expected[row])
    assert batch["id"].tolist() == order


def test_order_is_that_of_the_text_and_nothing_makes_an_empty_batch():
    dataset = windows([[4, 5, 2], [6, 2]], 3, 2)
    assert dataset.ordered_indices().tolist() == [0, 1]
    assert dataset.collater([]) == {}


def test_a_window_that_is_none_is_an_error():
    with pytest.raises(ValueError, match="context_window is 0"):
        windows([[4, 2]], 2, 0)
