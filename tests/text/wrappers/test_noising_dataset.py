from __future__ import annotations

import numpy as np

from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.wrappers.columns import ListDataset
from raydata_ext.text.wrappers.noising_dataset import NoisingDataset
from raydata_ext.text.wrappers.word_noising import UnsupervisedMTNoising, WordShuffle

VOCAB = Dictionary()
for number in range(20):
    VOCAB.add_symbol(f"w{number}")
ROWS = [np.array([4, 5, 6, 7, 8, 9, 2]), np.array([10, 11, 2]), np.empty(0, np.int64)]
CHILD = ListDataset(ROWS, [len(row) for row in ROWS])
NOISE = {"max_word_shuffle_distance": 3, "word_dropout_prob": 0.2, "word_blanking_prob": 0.2}


def test_noise_depends_on_seed_and_row_and_is_that_of_the_noiser():
    dataset = NoisingDataset(CHILD, VOCAB, seed=5, **NOISE)
    noiser = UnsupervisedMTNoising(VOCAB, 3, 0.2, 0.2)
    for row in range(2):
        expected = noiser.noising(ROWS[row][:, None], [len(ROWS[row])], rng=np.random.RandomState(5 + row))
        assert dataset[row].tolist() == expected[:, 0].tolist()
    before = dataset[0].tolist()
    dataset.set_epoch(4)
    assert dataset[0].tolist() == before
    assert ROWS[0].tolist() == [4, 5, 6, 7, 8, 9, 2]


def test_a_noiser_can_be_given_and_empty_items_stay_empty():
    dataset = NoisingDataset(CHILD, VOCAB, 1, noiser=WordShuffle(VOCAB))
    assert sorted(dataset[0].tolist()) == sorted(ROWS[0].tolist())
    assert dataset[2].tolist() == []


def test_sizes_are_those_without_noise():
    assert NoisingDataset(CHILD, VOCAB, 1, **NOISE).sizes.tolist() == [7, 3, 0]
