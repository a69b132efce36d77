from __future__ import annotations

import pickle

import numpy as np

from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset
from raydata_ext.text.wrappers.lru_cache_dataset import LRUCacheDataset


class Counted(BaseWrapperDataset):
    """Counts how often its items are made; they hold the epoch."""

    def __init__(self, dataset):
        super().__init__(dataset)
        self.made = 0
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def transform(self, item, index):
        self.made += 1
        return np.array([self.epoch, item])


def test_an_item_is_made_once():
    child = Counted(range(20))
    dataset = LRUCacheDataset(child)
    assert [dataset[3].tolist(), dataset[3].tolist(), dataset[-17].tolist()] == [[0, 3]] * 3
    assert child.made == 1


def test_a_batch_of_any_size_is_made_once():
    child = Counted(range(100))
    dataset = LRUCacheDataset(child)
    rows = list(range(100))
    first = dataset.__getitems__(rows)
    assert [item.tolist() for item in dataset.__getitems__(rows)] == [item.tolist() for item in first]
    assert child.made == 100


def test_a_new_epoch_makes_new_items():
    dataset = LRUCacheDataset(Counted(range(3)))
    assert [dataset[1].tolist(), dataset.__getitems__([1])[0].tolist()] == [[0, 1], [0, 1]]
    dataset.set_epoch(5)
    assert [dataset[1].tolist(), dataset.__getitems__([1])[0].tolist()] == [[5, 1], [5, 1]]


def test_batches_are_those_of_the_child():
    dataset = LRUCacheDataset(Counted(range(3)))
    assert dataset.collater([dataset[0], dataset[1]], return_tensors="np").tolist() == [[0, 0], [0, 1]]


def test_it_travels_to_another_process_without_what_it_remembers():
    dataset = LRUCacheDataset(Counted([7, 8]))
    dataset[0].tolist()
    assert pickle.loads(pickle.dumps(dataset))[0].tolist() == [0, 7]
