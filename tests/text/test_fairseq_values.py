"""Values that fairseq 0.10.2 gave for the same calls (Python 3.8, torch 1.8.1, numpy 1.20.3), draws included."""

from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text import (
    Dictionary,
    EpochBatchIterator,
    LanguagePairDataset,
    ListDataset,
    MaskTokensDataset,
    NoisingDataset,
    ResamplingDataset,
)

ROWS = [[4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 2], [20, 19, 18, 17, 16, 2], [5, 2]]


@pytest.fixture
def dictionary():
    """Each third symbol is one after which the word goes on."""
    symbols = Dictionary()
    for number in range(20):
        symbols.add_symbol(f"w{number}@@" if number % 3 == 0 else f"w{number}", number + 1)
    return symbols


def dataset(rows):
    return ListDataset([np.array(row) for row in rows], [len(row) for row in rows])


def lists(items):
    return [item.tolist() for item in items]


def test_noise_on_words(dictionary):
    noisy = NoisingDataset(
        dataset(ROWS),
        dictionary,
        seed=11,
        max_word_shuffle_distance=3,
        word_dropout_prob=0.2,
        word_blanking_prob=0.3,
    )
    assert lists(noisy) == [[4, 5, 7, 8, 13, 14, 3, 2], [3, 3, 3, 16, 2], [5, 2]]


def test_masks(dictionary):
    mask = dictionary.add_symbol("<mask>")
    rows = [[*row[:-1], 23] for row in ROWS[:2]]
    masked, wanted = MaskTokensDataset.apply_mask(
        dataset(rows), dictionary, 1, mask, seed=3, mask_prob=0.5, random_token_prob=0.3, leave_unmasked_prob=0.2
    )
    masked.set_epoch(2)
    wanted.set_epoch(2)
    assert lists(masked) == [[12, 5, 6, 5, 8, 24, 10, 11, 12, 7, 14, 24, 23], [20, 19, 18, 24, 16, 24]]
    assert lists(wanted) == [[4, 1, 1, 7, 1, 9, 1, 1, 12, 13, 1, 15, 1], [1, 1, 1, 17, 16, 23]]


def test_rows_drawn_anew():
    drawn = ResamplingDataset(dataset(ROWS * 3), seed=9, epoch=2, size_ratio=1.5)
    assert [item[0] for item in drawn] == [20, 20, 20, 4, 4, 20, 4, 5, 5, 5, 5, 5, 20, 20]


def test_batches_of_two_epochs_on_the_second_of_three_shards():
    rows = dataset([[row] for row in range(10)])
    epochs = EpochBatchIterator(
        rows, lambda items: [int(item[0]) for item in items], [[row] for row in range(10)], 4, 3, 1
    )
    assert [list(epochs.next_epoch_itr()) for _ in range(2)] == [[[5], [7], [8], []], [[1], [6], [4], []]]


def test_the_order_of_pairs(dictionary):
    rows = dataset([[4] * (row % 3) + [2] for row in range(12)])
    pairs = LanguagePairDataset(rows, None, dictionary, rows, None, dictionary, seed=7)
    assert pairs.ordered_indices().tolist() == [0, 3, 6, 9, 7, 10, 1, 4, 2, 5, 11, 8]
