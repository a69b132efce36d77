from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.wrappers.pad_dataset import LeftPadDataset, PadDataset, RightPadDataset

SAMPLES = [np.array([5, 6, 2], np.uint16), np.array([2], np.uint16)]


def test_rows_are_filled_up_on_either_side():
    assert LeftPadDataset(SAMPLES, 1).collater(SAMPLES).tolist() == [[5, 6, 2], [1, 1, 2]]
    assert RightPadDataset(SAMPLES, 1).collater(SAMPLES).tolist() == [[5, 6, 2], [2, 1, 1]]
    assert PadDataset(SAMPLES, 1, left_pad=True, pad_length=4).collater(SAMPLES[1:]).tolist() == [[1, 1, 1, 2]]


def test_tokens_become_int64_and_numbers_with_a_point_stay_what_they_are():
    assert RightPadDataset(SAMPLES, 1).collater(SAMPLES, return_tensors="np").dtype == np.int64
    floats = [np.ones(2, np.float32), np.ones(1, np.float32)]
    batch = RightPadDataset(floats, 0).collater(floats, return_tensors="np")
    assert (batch.dtype, batch.tolist()) == (np.float32, [[1, 1], [1, 0]])


def test_torch_and_numpy_batches_are_equal():
    torch = pytest.importorskip("torch")
    batch = RightPadDataset(SAMPLES, 1).collater(SAMPLES)
    assert batch.dtype == torch.int64
    assert batch.tolist() == RightPadDataset(SAMPLES, 1).collater(SAMPLES, return_tensors="np").tolist()
