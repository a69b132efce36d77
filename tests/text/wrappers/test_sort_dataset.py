from __future__ import annotations

import pytest

from raydata_ext.text.wrappers.columns import ListDataset
from raydata_ext.text.wrappers.sort_dataset import SortDataset

CHILD = ListDataset(list("abcd"))


def test_the_last_key_counts_most():
    assert SortDataset(CHILD, [4, 3, 2, 1]).ordered_indices().tolist() == [3, 2, 1, 0]
    assert SortDataset(CHILD, ([4, 3, 2, 1], [0, 1, 0, 1])).ordered_indices().tolist() == [2, 0, 3, 1]


def test_a_key_of_another_length_is_an_error():
    with pytest.raises(ValueError, match=r"a key has shape \(2,\); 4 rows"):
        SortDataset(CHILD, [[1, 2]])
