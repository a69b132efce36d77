from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.contract.default_collate import default_collate
from raydata_ext.text.contract.tensors import to_arrays

SAMPLES = [
    {"x": np.array([1, 2]), "n": 3, "f": 0.5, "name": "a", "pair": (1, 2.0)},
    {"x": np.array([3, 4]), "n": 5, "f": 1.5, "name": "b", "pair": (3, 4.0)},
]


def test_samples_are_merged_part_by_part():
    batch = default_collate(SAMPLES)
    assert batch["x"].tolist() == [[1, 2], [3, 4]]
    assert (batch["n"].tolist(), batch["f"].tolist(), batch["name"]) == ([3, 5], [0.5, 1.5], ["a", "b"])
    assert [part.tolist() for part in batch["pair"]] == [[1, 3], [2.0, 4.0]]


def test_the_batch_is_that_of_torch():
    torch = pytest.importorskip("torch")
    samples = [{**sample, "x": torch.from_numpy(sample["x"])} for sample in SAMPLES]
    expected = to_arrays(torch.utils.data.default_collate(samples))
    batch = default_collate(samples)
    for key in ("x", "n", "f"):
        assert batch[key].dtype == expected[key].dtype
        assert batch[key].tolist() == expected[key].tolist()


def test_what_cannot_be_merged_is_an_error_that_says_why():
    with pytest.raises(ValueError, match="no samples"):
        default_collate([])
    with pytest.raises(ValueError, match=r"\[\(1,\), \(2,\)\].*PadDataset"):
        default_collate([np.zeros(1), np.zeros(2)])
    with pytest.raises(ValueError, match=r"different lengths: \[1, 2\]"):
        default_collate([[1], [1, 2]])
