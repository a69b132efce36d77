from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.wrappers.added_tokens import PrependTokenDataset
from raydata_ext.text.wrappers.columns import ListDataset
from raydata_ext.text.wrappers.resampling_dataset import ResamplingDataset

ROWS = [np.arange(length) for length in (3, 1, 4, 2, 5)]


def child():
    return ListDataset(ROWS, [len(row) for row in ROWS])


@pytest.mark.parametrize(
    ("weights", "replace", "ratio"), [(None, True, 1.0), ([1, 2, 3, 4, 5], True, 1.5), (None, False, 0.6)]
)
def test_rows_are_those_that_fairseq_draws_in_each_epoch(weights, replace, ratio):
    dataset = ResamplingDataset(child(), weights, replace, ratio, seed=7)
    shares = None if weights is None else np.array(weights, np.float64) / np.sum(weights)
    for epoch in (1, 2, 1):
        dataset.set_epoch(epoch)
        drawn = np.random.RandomState([42, 7, epoch]).choice(5, int(np.ceil(5 * ratio)), replace, shares)
        assert [len(dataset[row]) for row in range(len(dataset))] == [len(ROWS[row]) for row in drawn]
        assert dataset.sizes.tolist() == [len(ROWS[row]) for row in drawn]
        assert dataset.size(0) == dataset.num_tokens(0) == len(ROWS[drawn[0]])


def test_wrappers_around_it_know_the_sizes_of_the_epoch():
    wrapper = PrependTokenDataset(ResamplingDataset(child(), seed=3), 0)
    for epoch in range(1, 5):
        wrapper.set_epoch(epoch)
        assert wrapper.sizes.tolist() == [len(wrapper[row]) for row in range(len(wrapper))]
    assert not wrapper.can_reuse_epoch_itr_across_epochs


def test_order_is_by_size_or_as_drawn():
    dataset = ResamplingDataset(child(), size_ratio=3)
    assert dataset.ordered_indices().tolist() == np.lexsort([np.arange(15), dataset.sizes]).tolist()
    assert ResamplingDataset(child(), batch_by_size=False).ordered_indices().tolist() == list(range(5))


def test_seeds_of_any_width_are_taken():
    assert len(ResamplingDataset(child(), seed=-1)) == len(ResamplingDataset(child(), seed=2**40)) == 5


def test_no_rows_are_fine():
    assert len(ResamplingDataset(ListDataset([], []))) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size_ratio": 0}, "size_ratio is 0"),
        ({"replace": False}, "size_ratio is 1.0"),
        ({"weights": [1, 2]}, r"weights of shape \(2,\) for 5 rows"),
        ({"weights": [0] * 5}, "not all of them 0"),
        ({"weights": [1, 1, 1, 1, -1]}, "none negative"),
    ],
)
def test_what_cannot_be_drawn_is_an_error(options, message):
    with pytest.raises(ValueError, match=message):
        ResamplingDataset(child(), **options)
