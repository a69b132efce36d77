from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.wrappers.word_noising import UnsupervisedMTNoising, WordDropout, WordNoising, WordShuffle

WORDS = ["he@@", "llo", "how", "are", "y@@", "ou", "n@@", "ew", "or@@", "k"]


def vocabulary(words=WORDS):
    dictionary = Dictionary()
    for word in words:
        dictionary.add_symbol(word)
    return dictionary


VOCAB = vocabulary()


def sentences(*texts):
    rows = [[VOCAB.index(word) for word in text.split()] for text in texts]
    width = max(map(len, rows))
    columns = [row + [VOCAB.pad()] * (width - len(row)) for row in rows]
    return np.array(columns).T, np.array([len(row) for row in rows])


def text_of(tokens, length=None):
    return " ".join(VOCAB[int(token)] for token in tokens[:length])


def test_tokens_are_counted_to_words_by_either_marker_or_none():
    x, _ = sentences("he@@ llo n@@ ew y@@ or@@ k", "how are y@@ ou")
    assert WordNoising(VOCAB).get_word_idx(x)[:, 0].tolist() == [0, 0, 1, 1, 2, 2, 2]
    assert WordNoising(VOCAB).get_word_idx(x)[:4, 1].tolist() == [0, 1, 2, 2]
    assert WordNoising(VOCAB, None, None).get_word_idx(x)[:, 0].tolist() == list(range(7))
    ended = vocabulary(["he", "llo_EOW", "you_EOW"])
    words = WordNoising(ended, None, "_EOW").get_word_idx(np.array([[4], [5], [6]]))
    assert words[:, 0].tolist() == [0, 0, 1]


def test_whole_words_are_dropped_and_the_end_of_sentence_stays():
    x, lengths = sentences("he@@ llo n@@ ew y@@ or@@ k </s>", "how are y@@ ou </s>")
    noisy, counts = WordDropout(VOCAB).noising(x, lengths, 0.4, rng=np.random.RandomState(3))
    draws = np.random.RandomState(3).rand(6) >= 0.4
    words = ["he@@ llo", "n@@ ew", "y@@ or@@ k"]
    expected = " ".join([word for word, kept in zip(words, draws[:3], strict=True) if kept] + ["</s>"])
    assert text_of(noisy[:, 0], counts[0]) == expected
    expected = " ".join(
        [word for word, kept in zip(["how", "are", "y@@ ou"], draws[3:], strict=True) if kept] + ["</s>"]
    )
    assert text_of(noisy[:, 1], counts[1]) == expected


def test_blanks_stand_for_the_tokens_of_a_word():
    x, lengths = sentences("he@@ llo n@@ ew </s>")
    draws = np.random.RandomState(1).rand(2) >= 0.5
    noisy, counts = WordDropout(VOCAB).noising(x, lengths, 0.5, VOCAB.unk(), rng=np.random.RandomState(1))
    words = [word if kept else "<unk> <unk>" for word, kept in zip(["he@@ llo", "n@@ ew"], draws, strict=True)]
    assert (text_of(noisy[:, 0]), counts.tolist()) == (" ".join([*words, "</s>"]), [5])


@given(st.lists(st.integers(4, 13), min_size=1, max_size=12), st.booleans(), st.integers(0, 99), st.integers(2, 5))
@settings(max_examples=100, deadline=None)
def test_words_move_by_less_than_the_distance_and_tokens_of_a_word_stay_together(tokens, eos, seed, distance):
    sentence = np.array(tokens + [VOCAB.eos()] * eos)
    words = WordNoising(VOCAB).get_word_idx(sentence[:, None])[:, 0]
    noisy, _ = WordShuffle(VOCAB).noising(sentence[:, None], [len(sentence)], distance, rng=np.random.RandomState(seed))
    assert sorted(noisy[:, 0].tolist()) == sorted(sentence.tolist())
    if eos:
        assert noisy[-1, 0] == VOCAB.eos()
    distinct, _ = WordShuffle(VOCAB, bpe_cont_marker=None).noising(
        np.arange(4, 4 + len(sentence))[:, None], [len(sentence)], distance, rng=np.random.RandomState(seed)
    )
    moved = np.abs(distinct[:, 0] - np.arange(4, 4 + len(sentence)))
    assert moved.max() <= distance
    assert distinct[0, 0] == 4
    first_word = [token for token, word in zip(sentence, words, strict=True) if word == 0]
    assert noisy[: len(first_word), 0].tolist() == first_word or eos == (len(first_word) == len(sentence))


def test_the_distance_given_to_a_shuffle_is_its_default():
    assert WordShuffle(VOCAB, 5).default_max_shuffle_distance == 5
    x, lengths = sentences("how are y@@ ou")
    assert WordShuffle(VOCAB, 0).noising(x, lengths, rng=np.random.RandomState(0))[0] is x


def test_a_sentence_never_becomes_empty():
    x, lengths = sentences("how </s>")
    for seed in range(20):
        noisy, counts = WordDropout(VOCAB).noising(x, lengths, 0.9, rng=np.random.RandomState(seed))
        assert counts[0] == 2
        assert noisy[1, 0] == VOCAB.eos()


def test_a_sentence_without_words_among_others_stays_without():
    x, _ = sentences("how are y@@ ou")
    both = np.stack([x[:, 0], np.full(len(x), VOCAB.pad())], axis=1)
    noisy, counts = WordDropout(VOCAB).noising(both, [len(x), 0], 0.5, rng=np.random.RandomState(0))
    assert counts[1] == 0
    assert set(noisy[:, 1].tolist()) == {VOCAB.pad()}


def test_no_noise_leaves_sentences_as_they_are():
    x, lengths = sentences("how are y@@ ou </s>")
    noisy = UnsupervisedMTNoising(VOCAB, 0, 0, 0).noising(x, lengths, rng=np.random.RandomState(0))
    assert noisy.tolist() == x.tolist()


def test_amounts_of_noise_that_are_none_are_errors():
    x, lengths = sentences("how are")
    with pytest.raises(ValueError, match="max_shuffle_distance is 1"):
        WordShuffle(VOCAB).noising(x, lengths, 1, rng=np.random.RandomState(0))
    with pytest.raises(ValueError, match=r"dropout_prob is 1\.5"):
        WordDropout(VOCAB).noising(x, lengths, 1.5, rng=np.random.RandomState(0))
