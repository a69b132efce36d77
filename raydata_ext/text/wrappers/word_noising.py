"""Noise on the words of sentences: some are left out, blanked, or moved a little.

Words are made of tokens, as a marker at the end of tokens says: one where a word goes on (BPE), or one where it ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from raydata_ext.text.contract.tensors import to_array, to_tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raydata_ext.text.dictionary import Dictionary

MAX_SHUFFLE_DISTANCE = 3
DROPOUT_PROB = 0.1


class Noiser(Protocol):
    """What `NoisingDataset` asks to make noise."""

    def noising(self, x: Any, lengths: Any, *, rng: np.random.RandomState) -> Any:
        """Return noisy sentences, shape (tokens, sentences)."""


class WordNoising:
    """What is common to all noise on words: which word each token is in.

    Args:
        dictionary: gives the symbols of tokens.
        bpe_cont_marker: the end of symbols after which the word goes on; none or None for no such marker.
        bpe_end_marker: the end of symbols that end a word, where there is no other marker. Without both, each token is
            a word.
    """

    def __init__(
        self, dictionary: Dictionary, bpe_cont_marker: str | None = "@@", bpe_end_marker: str | None = None
    ) -> None:
        self.dictionary = dictionary
        self.bpe_end: NDArray[np.bool_] | None = None
        symbols = (dictionary[number] for number in range(len(dictionary)))
        if bpe_cont_marker:
            self.bpe_end = np.array([not symbol.endswith(bpe_cont_marker) for symbol in symbols], np.bool_)
        elif bpe_end_marker:
            self.bpe_end = np.array([symbol.endswith(bpe_end_marker) for symbol in symbols], np.bool_)

    def get_word_idx(self, x: Any) -> NDArray[np.int64]:
        """Return which word of its sentence each token is in, from 0.

        Args:
            x: tokens, shape (tokens, sentences).
        """
        tokens = to_tokens(x)
        if self.bpe_end is None:
            return np.broadcast_to(np.arange(len(tokens))[:, None], tokens.shape)
        ends = self.bpe_end[tokens]
        from_the_end = ends[::-1].cumsum(axis=0)[::-1]
        return np.asarray(from_the_end.max(axis=0, initial=0) - from_the_end)

    def _final_eos(self, sentence: NDArray[np.int64]) -> int:
        """Return how many tokens at the end are the end of sentence, 0 or 1: noise spares them."""
        return int(len(sentence) > 0 and sentence[-1] == self.dictionary.eos())


class WordDropout(WordNoising):
    """Leaves out words at random, or blanks them. The end of sentence stays, and one word at least.

    Args:
        dictionary: see `WordNoising`.
        default_dropout_prob: the probability for each word.
        bpe_cont_marker: see `WordNoising`.
        bpe_end_marker: see `WordNoising`.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        default_dropout_prob: float = DROPOUT_PROB,
        bpe_cont_marker: str | None = "@@",
        bpe_end_marker: str | None = None,
    ) -> None:
        super().__init__(dictionary, bpe_cont_marker, bpe_end_marker)
        self.default_dropout_prob = default_dropout_prob

    def noising(
        self,
        x: Any,
        lengths: Any,
        dropout_prob: float | None = None,
        blank_idx: int | None = None,
        *,
        rng: np.random.RandomState,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return noisy sentences, and their lengths.

        Args:
            x: tokens, filled up at the end, shape (tokens, sentences).
            lengths: of the sentences, shape (sentences,).
            dropout_prob: the probability for each word; None is the default.
            blank_idx: what blanks a token; None leaves it out.
            rng: what draws.

        Raises:
            ValueError: the probability is not from 0 to below 1.
        """
        probability = self.default_dropout_prob if dropout_prob is None else dropout_prob
        tokens, counts = to_tokens(x), np.asarray(to_array(lengths), np.int64)
        if probability == 0:
            return tokens, counts
        if not 0 < probability < 1:
            raise ValueError(f"WordDropout: dropout_prob is {probability}; it must be from 0 to below 1")
        words = self.get_word_idx(tokens)
        sentences = [
            self._drop(tokens[:count, column], words[:count, column], probability, blank_idx, rng)
            for column, count in enumerate(counts.tolist())
        ]
        noisy = np.full((max(map(len, sentences), default=0), len(sentences)), self.dictionary.pad(), np.int64)
        for column, sentence in enumerate(sentences):
            noisy[: len(sentence), column] = sentence
        return noisy, np.array([len(sentence) for sentence in sentences], np.int64)

    def _drop(
        self,
        sentence: NDArray[np.int64],
        words: NDArray[np.int64],
        probability: float,
        blank_idx: int | None,
        rng: np.random.RandomState,
    ) -> NDArray[np.int64]:
        if not len(sentence):
            return sentence
        spared = self._final_eos(sentence)
        keep = rng.rand(int(words.max()) + 1 - spared) >= probability
        kept = np.append(keep, np.ones(spared, np.bool_))[words]
        noisy = sentence[kept] if blank_idx is None else np.where(kept, sentence, blank_idx)
        if len(noisy) <= 1:
            noisy = np.insert(noisy, 0, sentence[rng.randint(0, len(sentence))])
        return noisy


class WordShuffle(WordNoising):
    """Moves words at random, none further than a number of places. The first one and the end of sentence stay.

    Args:
        dictionary: see `WordNoising`.
        default_max_shuffle_distance: the number of places.
        bpe_cont_marker: see `WordNoising`.
        bpe_end_marker: see `WordNoising`.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        default_max_shuffle_distance: float = MAX_SHUFFLE_DISTANCE,
        bpe_cont_marker: str | None = "@@",
        bpe_end_marker: str | None = None,
    ) -> None:
        super().__init__(dictionary, bpe_cont_marker, bpe_end_marker)
        self.default_max_shuffle_distance = default_max_shuffle_distance

    def noising(
        self, x: Any, lengths: Any, max_shuffle_distance: float | None = None, *, rng: np.random.RandomState
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return noisy sentences, and their lengths.

        Args:
            x: tokens, filled up at the end, shape (tokens, sentences).
            lengths: of the sentences, shape (sentences,).
            max_shuffle_distance: the number of places, 0 or above 1; None is the default.
            rng: what draws.

        Raises:
            ValueError: there is no such distance: up to 1, nothing can move.
        """
        distance = self.default_max_shuffle_distance if max_shuffle_distance is None else max_shuffle_distance
        tokens, counts = to_tokens(x), np.asarray(to_array(lengths), np.int64)
        if distance == 0:
            return tokens, counts
        if distance <= 1:
            raise ValueError(f"WordShuffle: max_shuffle_distance is {distance}; it must be 0 or above 1")
        noise = rng.uniform(0, distance, size=tokens.shape)
        noise[:1] = -1  # the first word stays
        words = self.get_word_idx(tokens)
        noisy = tokens.copy()
        for column, count in enumerate(counts.tolist()):
            moving = count - self._final_eos(tokens[:count, column])
            scores = words[:moving, column] + noise[words[:moving, column], column]
            scores += 1e-6 * np.arange(moving)  # tokens of a word stay in order
            noisy[:moving, column] = tokens[:moving, column][scores.argsort()]
        return noisy, counts


class UnsupervisedMTNoising(WordNoising):
    """Moves words, then leaves some out, then blanks some with the unknown symbol.

    Args:
        dictionary: see `WordNoising`.
        max_word_shuffle_distance: see `WordShuffle`.
        word_dropout_prob: the probability of a word to be left out.
        word_blanking_prob: the probability of a word to be blanked.
        bpe_cont_marker: see `WordNoising`.
        bpe_end_marker: see `WordNoising`.

    Source: Lample et al., Unsupervised machine translation using monolingual corpora only, 2018.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        max_word_shuffle_distance: float,
        word_dropout_prob: float,
        word_blanking_prob: float,
        bpe_cont_marker: str | None = "@@",
        bpe_end_marker: str | None = None,
    ) -> None:
        super().__init__(dictionary, bpe_cont_marker, bpe_end_marker)
        self.max_word_shuffle_distance = max_word_shuffle_distance
        self.word_dropout_prob = word_dropout_prob
        self.word_blanking_prob = word_blanking_prob
        self.word_dropout = WordDropout(dictionary, DROPOUT_PROB, bpe_cont_marker, bpe_end_marker)
        self.word_shuffle = WordShuffle(dictionary, MAX_SHUFFLE_DISTANCE, bpe_cont_marker, bpe_end_marker)

    def noising(self, x: Any, lengths: Any, *, rng: np.random.RandomState) -> NDArray[np.int64]:
        """Return noisy sentences.

        Args:
            x: tokens, filled up at the end, shape (tokens, sentences).
            lengths: of the sentences, shape (sentences,).
            rng: what draws.
        """
        noisy = self.word_shuffle.noising(x, lengths, self.max_word_shuffle_distance, rng=rng)
        noisy = self.word_dropout.noising(*noisy, self.word_dropout_prob, rng=rng)
        return self.word_dropout.noising(*noisy, self.word_blanking_prob, self.dictionary.unk(), rng=rng)[0]
