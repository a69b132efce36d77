from __future__ import annotations

import numpy as np

from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.language_pair_dataset import LanguagePairDataset
from raydata_ext.text.wrappers.colorize_dataset import ColorizeDataset


def test_colors_stand_in_the_order_of_the_batch():
    rows = [np.array([4, 2]), np.array([4, 5, 2])]
    child = LanguagePairDataset(rows, [2, 3], Dictionary())
    dataset = ColorizeDataset(child, lambda dataset, number: 10 * number + len(dataset))
    batch = dataset.collater([dataset[0], dataset[1]], return_tensors="np")
    assert (batch["id"].tolist(), batch["net_input"]["colors"].tolist()) == ([1, 0], [12, 2])
    assert dataset.collater([]) == {}
