from __future__ import annotations

import pickle
from collections import Counter

import pytest

from raydata_ext.text.wrappers.columns import ListDataset
from raydata_ext.text.wrappers.multi_corpus_sampled_dataset import MultiCorpusSampledDataset

CORPORA = {"a": ListDataset(["a0", "a1", "a2"], [1, 5, 2]), "b": ListDataset(["b0"], [3])}


def test_a_row_holds_one_of_each_corpus_and_a_batch_uses_one():
    dataset = MultiCorpusSampledDataset(CORPORA)
    assert len(dataset) == 4
    assert [dict(dataset[row]) for row in range(4)] == [
        {"a": "a0", "b": "b0"},
        {"a": "a1", "b": "b0"},
        {"a": "a2", "b": "b0"},
        {"a": "a0", "b": "b0"},
    ]
    assert dataset.collater([dataset[0], dataset[1]]) in [["a0", "a1"], ["b0", "b0"]]
    assert dataset.collater([]) is None


def test_what_a_batch_uses_depends_on_seed_epoch_and_first_row_and_is_each_equally_often():
    dataset = MultiCorpusSampledDataset({"a": ListDataset(["a"] * 500), "b": ListDataset(["b"] * 500)}, seed=3)
    drawn = [dataset.collater([dataset[row]])[0] for row in range(1000)]
    other = pickle.loads(pickle.dumps(dataset))
    assert [other.collater([pickle.loads(pickle.dumps(other[row]))])[0] for row in range(1000)] == drawn
    assert Counter(drawn)["a"] == pytest.approx(500, abs=60)
    dataset.set_epoch(1)
    assert [dataset.collater([dataset[row]])[0] for row in range(1000)] != drawn


def test_another_way_to_choose_can_be_given():
    dataset = MultiCorpusSampledDataset(CORPORA, sampling_func=lambda keys: keys[-1])
    assert dataset.collater([dataset[0], dataset[1]]) == ["b0", "b0"]


def test_the_longest_of_all_corpora_counts():
    dataset = MultiCorpusSampledDataset(CORPORA)
    assert [dataset.num_tokens(row) for row in range(4)] == [dataset.size(row) for row in range(4)] == [3, 5, 3, 3]
    assert dataset.sizes.tolist() == [3, 5, 3, 3]
