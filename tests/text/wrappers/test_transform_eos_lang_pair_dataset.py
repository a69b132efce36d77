from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.language_pair_dataset import LanguagePairDataset
from raydata_ext.text.wrappers.colorize_dataset import ColorizeDataset
from raydata_ext.text.wrappers.transform_eos_lang_pair_dataset import TransformEosLangPairDataset

VOCAB = Dictionary()
SOURCES = [np.array([4, 5, 2]), np.array([6, 2])]
TARGETS = [np.array([7, 2]), np.array([8, 9, 2])]


def pairs(**options):
    return LanguagePairDataset(SOURCES, [3, 2], VOCAB, TARGETS, [2, 3], VOCAB, **options)


def batch_of(**options):
    dataset = TransformEosLangPairDataset(pairs(**options), 2, 90, 2, 91)
    return dataset.collater([dataset[0], dataset[1]], return_tensors="np")["net_input"]


def test_symbols_are_replaced_whatever_side_is_padded():
    assert batch_of()["src_tokens"].tolist() == [[4, 5, 90], [1, 6, 90]]
    assert batch_of(left_pad_source=False)["src_tokens"].tolist() == [[4, 5, 90], [6, 90, 1]]
    assert batch_of()["prev_output_tokens"].tolist() == [[91, 7, 1], [91, 8, 9]]
    assert batch_of(left_pad_target=True)["prev_output_tokens"].tolist() == [[1, 91, 7], [91, 8, 9]]


def test_the_rest_of_the_batch_is_that_of_the_child():
    child = pairs()
    dataset = TransformEosLangPairDataset(child, 2, 90, 2, 91)
    batch, expected = (ds.collater([child[0], child[1]], return_tensors="np") for ds in (dataset, child))
    assert batch["target"].tolist() == expected["target"].tolist()
    assert batch["net_input"]["src_lengths"].tolist() == expected["net_input"]["src_lengths"].tolist()
    assert dataset.sizes.tolist() == child.sizes.tolist()
    assert dataset.collater([]) == {}


def test_a_batch_that_the_child_keeps_is_not_changed():
    kept = {"id": np.array([0]), "net_input": {"src_tokens": np.array([[4, 2]]), "src_lengths": np.array([2])}}

    class Child(list):
        def collater(self, samples):
            return kept

    TransformEosLangPairDataset(Child(), 2, 90).collater([0])
    assert kept["net_input"]["src_tokens"].tolist() == [[4, 2]]


def test_nothing_to_replace_leaves_batches_as_they_are():
    dataset = TransformEosLangPairDataset(pairs(input_feeding=False), 2, None, None, 91)
    assert dataset.collater([dataset[0]], return_tensors="np")["net_input"]["src_tokens"].tolist() == [[4, 5, 2]]


def test_a_row_that_does_not_end_as_it_must_is_an_error_that_names_it():
    dataset = TransformEosLangPairDataset(pairs(), 3, 90)
    with pytest.raises(ValueError, match="the last token of source 0 is 2, but must be 3 to become 90"):
        dataset.collater([dataset[0]])


def test_the_first_token_is_found_behind_padding_also_where_it_may_be_any_and_through_wrappers():
    child = ColorizeDataset(pairs(left_pad_target=True), lambda _, row: row)
    for tgt_bos in (2, None):
        dataset = TransformEosLangPairDataset(child, 2, tgt_bos=tgt_bos, new_tgt_bos=91)
        batch = dataset.collater([dataset[0], dataset[1]], return_tensors="np")
        assert batch["net_input"]["prev_output_tokens"].tolist() == [[1, 91, 7], [91, 8, 9]]
