from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.wrappers.columns import (
    IdDataset,
    ListDataset,
    NumelDataset,
    NumSamplesDataset,
    RawLabelDataset,
)


def test_elements_are_counted_for_each_row_or_in_all():
    rows = [np.array([1, 2]), np.ones((2, 3)), [1]]
    dataset = NumelDataset(rows)
    assert [dataset[row] for row in range(3)] == [2, 6, 1]
    assert dataset.collater([2, 6]).tolist() == [2, 6]
    assert NumelDataset(rows, reduce=True).collater([2, 6]) == 8


def test_elements_of_tensors_are_counted():
    torch = pytest.importorskip("torch")
    assert NumelDataset([torch.ones(2, 3)])[0] == 6


def test_samples_and_rows_go_with_any_other_dataset():
    assert (len(NumSamplesDataset()), NumSamplesDataset()[7], NumSamplesDataset().collater([1, 1, 1])) == (0, 1, 3)
    assert (len(IdDataset()), IdDataset()[7], IdDataset().collater([3, 1]).tolist()) == (0, 7, [3, 1])


def test_labels_become_what_torch_makes_of_them():
    dataset = RawLabelDataset([3, 1, 2])
    assert (len(dataset), dataset[-1], dataset.collater([dataset[0], dataset[1]]).tolist()) == (3, 2, [3, 1])
    assert dataset.collater([1], return_tensors="np").dtype == np.int64
    assert dataset.collater([0.5], return_tensors="np").dtype == np.float32
    with pytest.raises(IndexError, match="RawLabelDataset: index 3"):
        dataset[3]


def test_a_list_gives_lists():
    dataset = ListDataset(["a", "b"], [1, 1])
    assert (list(dataset), dataset[1], dataset.collater(["a", "b"])) == (["a", "b"], "b", ["a", "b"])
    assert (dataset.size(0), dataset.sizes.tolist(), dataset.num_tokens(1)) == (1, [1, 1], 1)


def test_what_has_an_item_of_any_number_ends_after_the_rows_that_it_has():
    assert list(IdDataset()) == list(NumSamplesDataset()) == []
    assert IdDataset()[7] == 7
