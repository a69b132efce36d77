from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.wrappers.columns import ListDataset
from raydata_ext.text.wrappers.removed_tokens import StripTokenDataset, TruncateDataset

ROWS = [[5, 2, 6, 2], [2], [7, 8, 9]]


@pytest.fixture
def child():
    return ListDataset([np.array(row) for row in ROWS], [len(row) for row in ROWS])


def test_items_are_cut_and_so_are_all_sizes(child):
    dataset = TruncateDataset(child, 2)
    assert [dataset[row].tolist() for row in range(3)] == [[5, 2], [2], [7, 8]]
    assert dataset.sizes.tolist() == [2, 1, 2]
    assert [dataset.size(row) for row in range(3)] == [dataset.num_tokens(row) for row in range(3)] == [2, 1, 2]
    assert child[0].tolist() == ROWS[0]


def test_a_token_is_taken_out_wherever_it_is_and_sizes_know(child):
    dataset = StripTokenDataset(child, 2)
    assert [dataset[row].tolist() for row in range(3)] == [[5, 6], [], [7, 8, 9]]
    assert dataset.sizes.tolist() == [2, 0, 3]
    assert (dataset.size(1), dataset.num_tokens_vec([2, 0]).tolist()) == (0, [3, 2])
    assert child[0].tolist() == ROWS[0]


def test_a_negative_length_is_an_error(child):
    with pytest.raises(ValueError, match="TruncateDataset: truncation_length is -1"):
        TruncateDataset(child, -1)
