from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.wrappers.columns import ListDataset, RawLabelDataset
from raydata_ext.text.wrappers.dict_dataset import DictDataset


def test_rows_are_side_by_side_as_far_as_all_have_them():
    dataset = DictDataset({"mlm": ListDataset(list("abc"), [1, 2, 3]), "tlm": ListDataset(list("xy"), [5, 1])})
    assert (len(dataset), dataset[1], dataset[-1]) == (2, {"mlm": "b", "tlm": "y"}, {"mlm": "b", "tlm": "y"})
    assert dataset.__getitems__([1, 0]) == [dataset[1], dataset[0]]
    assert dataset.collater([dataset[0], dataset[1]]) == {"mlm": ["a", "b"], "tlm": ["x", "y"]}
    assert dataset.collater([]) == {}
    with pytest.raises(IndexError, match="DictDataset: index 2"):
        dataset[2]


def test_sizes_are_by_name():
    dataset = DictDataset({"mlm": ListDataset(list("abc"), [1, 2, 3]), "tlm": ListDataset(list("xy"), [5, 1])})
    assert (dataset.size(0), dataset.num_tokens(0)) == ({"mlm": 1, "tlm": 5}, 5)
    assert dataset.num_tokens_vec(np.arange(2)).tolist() == [5, 2]


def test_chunks_of_rows_need_no_sizes():
    dataset = DictDataset({"x": RawLabelDataset(list(range(5)))})
    batches = dataset.batch_by_size(dataset.ordered_indices(), max_sentences=2)
    assert [batch.tolist() for batch in batches] == [[0, 1], [2, 3], [4]]


def test_no_datasets_are_an_error():
    with pytest.raises(ValueError, match="DictDataset: there are no datasets"):
        DictDataset({})
