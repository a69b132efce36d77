from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.language_pair_dataset import LanguagePairDataset
from raydata_ext.text.wrappers.columns import ListDataset
from raydata_ext.text.wrappers.concat_dataset import ConcatDataset


def rows(*lengths):
    items = [[number] * length for number, length in enumerate(lengths)]
    return ListDataset(items, lengths)


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 9), max_size=5), st.sampled_from([0, 0.5, 1, 1.5, 2, 3])),
        min_size=1,
        max_size=5,
    )
)
@settings(max_examples=100, deadline=None)
def test_rows_and_sizes_equal_a_plain_list(parts):
    dataset = ConcatDataset([rows(*lengths) for lengths, _ in parts], [ratio for _, ratio in parts])
    plain = []
    for lengths, ratio in parts:
        items = [[number] * length for number, length in enumerate(lengths)]
        plain += [items[row % len(items)] for row in range(int(ratio * len(items)))]
    assert len(dataset) == len(plain)
    assert [dataset[row] for row in range(len(plain))] == plain
    assert [dataset[-1 - row] for row in range(len(plain))] == plain[::-1]
    assert dataset.__getitems__(range(len(plain))) == plain
    assert dataset.sizes.tolist() == [len(item) for item in plain]
    assert [dataset.size(row) for row in range(len(plain))] == [len(item) for item in plain]
    assert dataset.ordered_indices().tolist() == sorted(range(len(plain)), key=lambda row: len(plain[row]))


def test_one_ratio_holds_for_all_even_with_a_fraction():
    assert len(ConcatDataset([rows(1, 2), rows(3)], 2)) == 6
    assert ConcatDataset([rows(1, 2), rows(3, 4)], 1.5).sizes.tolist() == [1, 2, 1, 3, 4, 3]


def test_pairs_are_sorted_by_source_then_target():
    def pairs(*sizes):
        sources, targets = zip(*sizes, strict=True)
        dictionary = Dictionary()
        return LanguagePairDataset([None] * len(sizes), sources, dictionary, [None] * len(sizes), targets, dictionary)

    sizes = [(2, 5), (1, 1), (2, 4), (2, 4)]
    dataset = ConcatDataset([pairs(*sizes[:2]), pairs(*sizes[2:])])
    assert [dataset.size(row) for row in range(4)] == sizes
    assert dataset.num_tokens(0) == 5
    assert dataset.ordered_indices().tolist() == [1, 2, 3, 0]


def test_each_dataset_is_asked_for_what_is_its_own():
    told = []

    class Child(ListDataset):
        supports_prefetch = True

        def __init__(self, name, *lengths):
            super().__init__([name] * len(lengths), lengths)
            self.name = name

        def prefetch(self, indices):
            told.append((self.name, np.asarray(indices).tolist()))

        def set_epoch(self, epoch):
            told.append((self.name, epoch))

    dataset = ConcatDataset([Child("a", 1, 2), Child("b", 3)], [2, 1])
    dataset.prefetch([0, 3, 4])
    dataset.set_epoch(7)
    assert told == [("a", [0, 1]), ("b", [0]), ("a", 7), ("b", 7)]
    assert (dataset.attr("name", 1), dataset.attr("name", 4), dataset.attr("nothing", 0)) == ("a", "b", None)
    assert dataset.supports_prefetch
    assert dataset.collater(["x"]) == ["x"]


def test_what_cannot_be_concatenated_is_an_error():
    with pytest.raises(ValueError, match="no datasets"):
        ConcatDataset([])
    with pytest.raises(ValueError, match=r"sample_ratios are \[1, 2\]; 1 not negative"):
        ConcatDataset([rows(1)], [1, 2])
    with pytest.raises(IndexError, match="ConcatDataset: index 2"):
        ConcatDataset([rows(1), rows(1)])[2]
