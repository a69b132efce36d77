from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.language_pair_dataset import LanguagePairDataset
from raydata_ext.text.wrappers.backtranslation_dataset import BacktranslationDataset
from raydata_ext.text.wrappers.concat_dataset import ConcatDataset

VOCAB = Dictionary()
for number in range(30):
    VOCAB.add_symbol(f"w{number}")
ROWS = [np.array([4, 5, 2]), np.array([6, 2]), np.array([7, 8, 9, 2])]


def sentences():
    return LanguagePairDataset(ROWS, [len(row) for row in ROWS], VOCAB)


def next_words(batch, shift=10):
    """Translate each word to the one ten later; the second hypothesis is nonsense."""
    rows = batch["net_input"]["src_tokens"].tolist()
    best = [[token + shift if token > 3 else token for token in row if token != 1] for row in rows]
    return [[{"tokens": np.array(row)}, {"tokens": np.array([3])}] for row in best]


def as_pairs(samples):
    return {sample["id"]: (sample["source"].tolist(), sample["target"].tolist()) for sample in samples}


def test_sentences_become_targets_of_their_own_translation():
    dataset = BacktranslationDataset(sentences(), VOCAB, backtranslation_fn=next_words, output_collater=as_pairs)
    assert dataset.collater([dataset[row] for row in (1, 2, 0)]) == {
        0: ([14, 15, 2], [4, 5, 2]),
        1: ([16, 2], [6, 2]),
        2: ([17, 18, 19, 2], [7, 8, 9, 2]),
    }


def test_the_childs_own_batch_is_made_and_its_samples_stay_as_they_are():
    child = sentences()
    dataset = BacktranslationDataset(child, VOCAB)
    dataset.set_backtranslation_fn(next_words)
    samples = [dataset[0], dataset[2]]
    batch = dataset.collater(samples, return_tensors="np")
    assert batch["id"].tolist() == [2, 0]
    assert batch["net_input"]["src_tokens"].tolist() == [[17, 18, 19, 2], [1, 14, 15, 2]]
    assert batch["target"].tolist() == [[7, 8, 9, 2], [4, 5, 2, 1]]
    assert samples[0]["target"] is None
    assert samples[0]["source"].tolist() == [4, 5, 2]


def test_rows_of_several_corpora_keep_their_own_translations_though_their_ids_are_the_same():
    other = LanguagePairDataset([np.array([20, 21, 2]), np.array([22, 2])], [3, 2], VOCAB)
    both = ConcatDataset([sentences(), other])
    dataset = BacktranslationDataset(both, VOCAB, backtranslation_fn=next_words, output_collater=list)
    pairs = dataset.collater([both[0], both[3], both[4], both[1]])
    assert [pair["id"] for pair in pairs] == [0, 0, 1, 1]
    assert [pair["source"].tolist()[0] - pair["target"].tolist()[0] for pair in pairs] == [10] * 4


def test_the_function_gets_the_kind_of_batch_and_the_arguments_asked_for():
    torch = pytest.importorskip("torch")
    seen = []

    def function(batch, **options):
        seen.append((type(batch["net_input"]["src_tokens"]), options))
        return [[{"tokens": torch.tensor([4, 2])}]]

    dataset = BacktranslationDataset(sentences(), VOCAB, backtranslation_fn=function, beam=5)
    dataset.collater([dataset[0]])
    dataset.return_tensors = "np"
    dataset.collater([dataset[0]])
    assert seen == [(torch.Tensor, {"beam": 5}), (np.ndarray, {"beam": 5})]


def test_the_length_of_a_sentence_stands_for_both():
    dataset = BacktranslationDataset(sentences(), VOCAB)
    assert (dataset.size(2), dataset.num_tokens(2), dataset.sizes.tolist()) == ((4, 4), 4, [[3, 3], [2, 2], [4, 4]])
    assert dataset.ordered_indices().tolist() == sentences().ordered_indices().tolist()


def test_dummy_samples_pass_and_no_samples_are_an_empty_batch():
    dataset = BacktranslationDataset(sentences(), VOCAB)
    assert dataset.collater([{"is_dummy": True}]) == [{"is_dummy": True}]
    assert dataset.collater([]) == {}


def test_no_function_and_results_that_are_missing_are_errors():
    dataset = BacktranslationDataset(sentences(), VOCAB)
    with pytest.raises(ValueError, match="call set_backtranslation_fn"):
        dataset.collater([dataset[0]])
    dataset.set_backtranslation_fn(lambda _: [])
    with pytest.raises(ValueError, match="returned 0 results for 1 rows"):
        dataset.collater([dataset[0]])
