from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.contract.fairseq_dataset import FairseqDataset
from raydata_ext.text.wrappers.columns import (
    IdDataset,
    ListDataset,
    NumelDataset,
    NumSamplesDataset,
    RawLabelDataset,
)
from raydata_ext.text.wrappers.nested_dictionary_dataset import NestedDictionaryDataset
from raydata_ext.text.wrappers.pad_dataset import RightPadDataset

ROWS = [np.array([4, 5, 2]), np.array([6, 2])]
TOKENS = ListDataset(ROWS, [3, 2])


def nested(**more):
    return NestedDictionaryDataset(
        {
            "id": IdDataset(),
            "net_input": {"src_tokens": RightPadDataset(TOKENS, 1), "src_lengths": NumelDataset(TOKENS)},
            "nsentences": NumSamplesDataset(),
            "ntokens": NumelDataset(TOKENS, reduce=True),
            "absent": None,
            **more,
        },
        sizes=[TOKENS.sizes],
    )


def test_items_are_flat_and_batches_are_a_tree():
    dataset = nested()
    item = dataset[1]
    assert list(item) == ["id", "net_input.src_tokens", "net_input.src_lengths", "nsentences", "ntokens"]
    batch = dataset.collater([dataset[1], dataset[0]], return_tensors="np")
    assert batch["net_input"]["src_tokens"].tolist() == [[6, 2, 1], [4, 5, 2]]
    assert batch["net_input"]["src_lengths"].tolist() == [2, 3]
    assert (batch["id"].tolist(), batch["nsentences"], batch["ntokens"]) == ([1, 0], 2, 5)
    assert "absent" not in batch
    assert dataset.collater([]) == {}


def test_items_at_once_are_those_one_by_one():
    at_once = nested().__getitems__([1, -2])
    assert [list(item) for item in at_once] == [list(nested()[0])] * 2
    assert [item["net_input.src_tokens"].tolist() for item in at_once] == [[6, 2], [4, 5, 2]]


def test_lists_stay_lists():
    dataset = NestedDictionaryDataset({"parts": [RawLabelDataset([1, 2]), {"x": RawLabelDataset([3, 4])}]})
    assert list(dataset[0]) == ["parts.[0]", "parts.[1].x"]
    batch = dataset.collater([dataset[0]], return_tensors="np")
    assert [batch["parts"][0].tolist(), batch["parts"][1]["x"].tolist()] == [[1], [3]]


def test_sizes_are_one_number_or_several():
    dataset = nested()
    assert (dataset.size(0), dataset.num_tokens(1), dataset.sizes.tolist()) == (3, 2, [3, 2])
    both = NestedDictionaryDataset({"a": TOKENS}, sizes=[np.array([3, 2]), np.array([1, 9])])
    assert (both.size(1), both.num_tokens(1)) == ((2, 9), 9)
    single = NestedDictionaryDataset({"a": TOKENS}, sizes=np.array([3, 2]))
    assert single.size(1) == 2
    with pytest.raises(TypeError, match="NestedDictionaryDataset does not know the sizes"):
        NestedDictionaryDataset({"a": TOKENS}).size(0)


def test_parts_without_a_collater_are_stacked_as_by_torch():
    class Plain(FairseqDataset):
        def __getitem__(self, index):
            return np.array([index, index])

        def __len__(self):
            return 2

    dataset = NestedDictionaryDataset({"plain": Plain(), "list": [1.5, 2.5]} | {"list": ListDataset([1, 2])})
    batch = dataset.collater([dataset[0], dataset[1]], return_tensors="np")
    assert batch["plain"].tolist() == [[0, 0], [1, 1]]


def test_epochs_and_prefetching_reach_all_parts():
    told = []

    class Child(ListDataset):
        def set_epoch(self, epoch):
            told.append(epoch)

        def prefetch(self, indices):
            told.append(list(indices))

        supports_prefetch = True

    dataset = NestedDictionaryDataset({"a": Child([1]), "b": {"c": Child([2])}})
    dataset.set_epoch(3)
    dataset.prefetch([0])
    assert (told, dataset.supports_prefetch) == ([3, 3, [0], [0]], True)


def test_what_is_no_dataset_and_lengths_that_differ_are_errors_that_name_the_part():
    with pytest.raises(ValueError, match=r"a\.b is a int, not a dataset"):
        NestedDictionaryDataset({"a": {"b": 3}})
    with pytest.raises(ValueError, match=r"'a': 1, 'b\.c': 2"):
        NestedDictionaryDataset({"a": ListDataset([1]), "b": {"c": ListDataset([1, 2])}})
    with pytest.raises(ValueError, match="give one at least"):
        NestedDictionaryDataset({"a": None})


def test_torch_and_numpy_batches_are_equal():
    torch = pytest.importorskip("torch")
    dataset = nested()
    samples = dataset.__getitems__([0, 1])
    tensors, arrays = dataset.collater(samples), dataset.collater(samples, return_tensors="np")
    assert isinstance(tensors["net_input"]["src_tokens"], torch.Tensor)
    for key in ("src_tokens", "src_lengths"):
        assert tensors["net_input"][key].tolist() == arrays["net_input"][key].tolist()
