from __future__ import annotations

import random

import pytest

from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.wrappers.sharded_dataset import ShardedDataset


@pytest.fixture
def dictionary():
    dictionary = Dictionary()
    for number in range(5):
        dictionary.add_symbol(f"shard{number}")
    return dictionary


@pytest.fixture
def corpus(tmp_path):
    directory = tmp_path / "corpus"
    for number in range(5):
        (directory / f"shard{number}").mkdir(parents=True)
        (directory / f"shard{number}" / "train").write_text(f"shard{number}\n")
    (directory / "valid").mkdir()
    (directory / "valid" / "valid").write_text("shard0 shard1\n")
    (directory / "test").write_text("shard2\n")
    return directory


def test_each_epoch_has_the_shard_that_fairseq_draws(corpus, dictionary):
    for epoch in range(10):
        dataset = ShardedDataset(dictionary, None, corpus, "train", epoch, seed=7)
        random.seed(7 ^ epoch)
        assert dataset[0].tolist() == [4 + random.randint(0, 4), 2]
    assert dataset.name == dataset.attr("name", 0) == "corpus"
    assert (dataset.size(0), dataset.sizes.tolist()) == (2, [2])


def test_other_splits_are_one_dataset(corpus, dictionary):
    assert ShardedDataset(dictionary, "raw", corpus, "valid", 1)[0].tolist() == [4, 5, 2]
    assert ShardedDataset(dictionary, "raw", corpus, "test", 1, name="mine").name == "mine"


def test_a_split_that_is_not_there_is_an_error(corpus, dictionary):
    with pytest.raises(FileNotFoundError, match=r"no dataset 'other' at .*other"):
        ShardedDataset(dictionary, "raw", corpus, "other", 1)
