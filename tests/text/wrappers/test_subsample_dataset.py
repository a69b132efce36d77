from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.wrappers.columns import ListDataset
from raydata_ext.text.wrappers.subsample_dataset import SubsampleDataset

CHILD = ListDataset([f"row {number}" for number in range(10)], list(range(10, 0, -1)))


def test_rows_are_those_that_fairseq_draws_after_the_same_seed():
    dataset = SubsampleDataset(CHILD, 0.25, seed=7)
    np.random.seed(7)  # noqa: NPY002 - it is the reference
    drawn = np.random.choice(range(10), 3, replace=False).tolist()  # noqa: NPY002
    assert [dataset[row] for row in range(3)] == [f"row {row}" for row in drawn]
    assert [dataset.size(row) for row in range(3)] == dataset.sizes.tolist() == [10 - row for row in drawn]
    assert dataset.__getitems__([2, 0]) == [dataset[2], dataset[0]]
    assert len(dataset) == 3


def test_rows_are_ordered_by_size_and_ties_by_chance():
    child = ListDataset(list("abcdef"), [2, 1, 2, 1, 2, 1])
    plain, shuffled = SubsampleDataset(child, 0.9), SubsampleDataset(child, 0.9, shuffle=True)
    assert plain.ordered_indices().tolist() == sorted(range(6), key=plain.size)
    order = shuffled.ordered_indices().tolist()
    assert sorted(order) == list(range(6))
    assert [shuffled.size(row) for row in order] == sorted(child.sizes.tolist())


@pytest.mark.parametrize("ratio", [1, 1.5, -0.1])
def test_only_a_part_can_be_drawn(ratio):
    with pytest.raises(ValueError, match=f"size_ratio is {ratio}"):
        SubsampleDataset(CHILD, ratio)


def test_no_rows_are_fine():
    assert len(SubsampleDataset(ListDataset([], []), 0.5)) == 0
    assert SubsampleDataset(CHILD, 0).ordered_indices().tolist() == []
