from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest

from raydata_ext.text.wrappers.columns import ListDataset
from raydata_ext.text.wrappers.round_robin_zip_datasets import RoundRobinZipDatasets
from raydata_ext.text.wrappers.sort_dataset import SortDataset

LONG = SortDataset(ListDataset(list("abcde"), [5, 1, 4, 2, 3]), [[5, 1, 4, 2, 3]])
SHORT = ListDataset(list("xy"), [7, 2])


@pytest.mark.parametrize("mapping", [dict, OrderedDict])
def test_shorter_datasets_begin_again_and_each_has_its_order(mapping):
    dataset = RoundRobinZipDatasets(mapping(long=LONG, short=SHORT))
    assert [dataset[row] for row in range(5)] == [
        {"long": long, "short": short} for long, short in zip("bdeca", "xyxyx", strict=True)
    ]
    assert len(dataset) == 5
    assert dataset.ordered_indices().tolist() == [0, 1, 2, 3, 4]
    assert dataset[-1] == dataset[4]


def test_sizes_are_by_name_and_the_longest_counts():
    dataset = RoundRobinZipDatasets({"long": LONG, "short": SHORT})
    assert dataset.size(1) == {"long": 2, "short": 2}
    assert [dataset.num_tokens(row) for row in range(5)] == dataset.num_tokens_vec(range(5)).tolist() == [7, 2, 7, 4, 7]


def test_a_batch_holds_a_batch_of_each_and_none_of_nothing():
    dataset = RoundRobinZipDatasets({"long": LONG, "short": SHORT})
    assert dataset.collater([dataset[0], dataset[1]]) == {"long": ["b", "d"], "short": ["x", "y"]}
    assert dataset.collater([]) is None


def test_one_dataset_alone_can_be_evaluated():
    dataset = RoundRobinZipDatasets({"long": LONG, "short": SHORT}, eval_key="long")
    assert (dataset[0], dataset.collater(["b"])) == ("b", ["b"])
    with pytest.raises(ValueError, match="eval_key is 'other'"):
        RoundRobinZipDatasets({"long": LONG}, eval_key="other")


def test_rows_too_long_are_left_out_of_their_own_dataset_alone(caplog):
    dataset = RoundRobinZipDatasets({"long": LONG, "short": SHORT})
    kept, ignored = dataset.filter_indices_by_size(np.arange(5), {"long": 3, "short": 5})
    assert (kept.tolist(), ignored) == ([0, 1, 2], [0, 2, 3, 4])
    assert [dataset[row] for row in range(len(dataset))] == [{"long": row, "short": "y"} for row in "bde"]
    assert "2 of 5 rows of dataset 'long' are too long for 3" in caplog.text
    with pytest.raises(ValueError, match="all rows of dataset 'short' are too long for 1"):
        RoundRobinZipDatasets({"short": SHORT}).filter_indices_by_size(np.arange(2), 1)


def test_prefetching_is_passed_on_by_row():
    told = []

    class Child(ListDataset):
        supports_prefetch = True

        def prefetch(self, indices):
            told.append(np.asarray(indices).tolist())

    dataset = RoundRobinZipDatasets({"a": Child(list("abc")), "b": Child(list("x"))})
    dataset.prefetch([2, 1])
    assert told == [[2, 1], [0, 0]]
