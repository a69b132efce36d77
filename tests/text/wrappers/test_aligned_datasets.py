from __future__ import annotations

import pytest

from raydata_ext.text.wrappers.columns import ListDataset
from raydata_ext.text.wrappers.multi_corpus_sampled_dataset import MultiCorpusSampledDataset
from raydata_ext.text.wrappers.resampling_dataset import ResamplingDataset
from raydata_ext.text.wrappers.round_robin_zip_datasets import RoundRobinZipDatasets


@pytest.mark.parametrize("kind", [RoundRobinZipDatasets, MultiCorpusSampledDataset])
def test_none_and_empty_datasets_are_errors(kind):
    with pytest.raises(ValueError, match=f"{kind.__name__}: there are no datasets"):
        kind({})
    with pytest.raises(ValueError, match="dataset 'b' is empty"):
        kind({"a": ListDataset([1]), "b": ListDataset([])})


def test_orders_that_change_with_the_epoch_are_asked_for_again():
    child = ResamplingDataset(ListDataset(list("abcdefgh"), list(range(8))), seed=1)
    dataset = RoundRobinZipDatasets({"a": child})
    for epoch in (1, 2, 3):
        dataset.set_epoch(epoch)
        assert [item["a"] for item in dataset] == [child[row] for row in child.ordered_indices()]
