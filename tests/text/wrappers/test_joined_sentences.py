from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.wrappers.columns import ListDataset
from raydata_ext.text.wrappers.joined_sentences import ConcatSentencesDataset, TLMDataset
from raydata_ext.text.wrappers.pad_dataset import RightPadDataset
from raydata_ext.text.wrappers.sort_dataset import SortDataset


def tokens(*rows):
    return ListDataset([np.array(row, np.uint16) for row in rows], [len(row) for row in rows])


def test_items_of_all_datasets_are_joined_and_sizes_add_up():
    dataset = ConcatSentencesDataset(
        SortDataset(RightPadDataset(tokens([5, 6], [7]), 1), [[1, 0]]), tokens([8], []), tokens([9], [9])
    )
    assert [item.tolist() for item in dataset] == [[5, 6, 8, 9], [7, 9]]
    assert dataset.sizes.tolist() == [dataset.size(0), dataset.size(1)] == [4, 2]
    assert dataset.ordered_indices().tolist() == [1, 0]
    assert dataset.collater([dataset[0], dataset[1]]).tolist() == [[5, 6, 8, 9], [7, 9, 1, 1]]


def test_a_translation_pair_is_one_item_with_symbols_that_are_counted():
    dataset = TLMDataset(tokens([5, 6], []), tokens([7], [8, 9]), bos=0, eos=2)
    assert [item.tolist() for item in dataset] == [[0, 5, 6, 2, 7, 2], [0, 2, 8, 9, 2]]
    assert dataset.sizes.tolist() == [dataset.num_tokens(0), dataset.num_tokens(1)] == [6, 5]


def test_lengths_that_differ_are_errors():
    with pytest.raises(ValueError, match=r"TLMDataset: datasets have \[1, 2\] rows"):
        TLMDataset(tokens([5]), tokens([6], [7]), 0, 2)
    with pytest.raises(ValueError, match="ConcatSentencesDataset"):
        ConcatSentencesDataset()
