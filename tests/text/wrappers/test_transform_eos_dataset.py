from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.language_pair_dataset import LanguagePairDataset
from raydata_ext.text.wrappers.transform_eos_dataset import TransformEosDataset

VOCAB = Dictionary()
EOS = VOCAB.eos()


def pairs(sources=((4, 5), (6,)), targets=((7, 2), (8, 9, 2))):
    sources, targets = [np.array(row) for row in sources], [np.array(row) for row in targets]
    return LanguagePairDataset(
        sources, [len(row) for row in sources], VOCAB, targets, [len(row) for row in targets], VOCAB
    )


def test_symbols_are_added_and_taken_away_in_batches_and_sizes_know():
    dataset = TransformEosDataset(pairs(), EOS, append_eos_to_src=True, remove_eos_from_tgt=True)
    batch = dataset.collater([dataset[0], dataset[1]], return_tensors="np")
    assert batch["net_input"]["src_tokens"].tolist() == [[4, 5, 2], [1, 6, 2]]
    assert batch["target"].tolist() == [[7, 1], [8, 9]]
    assert (dataset.size(1), dataset.num_tokens(1), dataset.sizes.tolist()) == ((2, 2), 2, [[3, 1], [2, 2]])


def test_the_other_way_round():
    child = pairs(((4, 2),), ((7,),))
    dataset = TransformEosDataset(child, EOS, remove_eos_from_src=True, append_eos_to_tgt=True)
    batch = dataset.collater([dataset[0]], return_tensors="np")
    assert (batch["net_input"]["src_tokens"].tolist(), batch["target"].tolist()) == ([[4]], [[7, 2]])
    assert dataset.size(0) == (1, 2)


def test_items_and_samples_stay_as_they_are():
    dataset = TransformEosDataset(pairs(), EOS, append_eos_to_src=True)
    sample = dataset[0]
    dataset.collater([sample])
    dataset.collater([sample])
    assert sample["source"].tolist() == dataset[0]["source"].tolist() == [4, 5]


def test_without_a_target_its_size_does_not_change():
    sources = [np.array([4, 5])]
    dataset = TransformEosDataset(
        LanguagePairDataset(sources, [2], VOCAB), EOS, append_eos_to_src=True, has_target=False
    )
    assert dataset.size(0) == (3, 0)
    assert dataset.collater([dataset[0]], return_tensors="np")["net_input"]["src_tokens"].tolist() == [[4, 5, 2]]
    assert dataset.collater([]) == {}


def test_sizes_of_small_types_do_not_wrap():
    child = LanguagePairDataset([None], np.array([65_535], np.uint16), VOCAB)
    assert TransformEosDataset(child, EOS, append_eos_to_src=True, has_target=False).size(0) == (65_536, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"remove_eos_from_src": True}, "the source of sample 0 does not end with 2, which is to be taken away"),
        ({"append_eos_to_tgt": True}, "the target of sample 0 ends with 2, which is to be added"),
    ],
)
def test_every_sentence_that_does_not_end_as_it_must_is_an_error(options, message):
    dataset = TransformEosDataset(pairs(), EOS, **options)
    with pytest.raises(ValueError, match=message):
        dataset.collater([dataset[0]])


def test_what_cannot_be_is_an_error():
    with pytest.raises(ValueError, match="must be a FairseqDataset, not list"):
        TransformEosDataset([], EOS)
    with pytest.raises(ValueError, match="cannot combine append_eos_to_tgt and remove_eos_from_tgt"):
        TransformEosDataset(pairs(), EOS, append_eos_to_tgt=True, remove_eos_from_tgt=True)
    dataset = TransformEosDataset(LanguagePairDataset([np.array([4])], [1], VOCAB), EOS, append_eos_to_tgt=True)
    with pytest.raises(ValueError, match="sample 0 has no target"):
        dataset.collater([dataset[0]])
