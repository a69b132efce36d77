r"""Turning lines of text into token numbers, as a step of the engine.

Lines end at `\n` bytes and nowhere else, so a source and a target file of as many lines give as many rows each,
whatever else is in them and however they are cut. Rows are Arrow lists; `write_indexed` makes a `.bin` and `.idx` of
them.

Source: `Binarizer` of fairseq.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from raydata_ext.dataset import Dataset, LazyDataset, scan_dataset
from raydata_ext.text.indexed.from_dataset import write_indexed_dataset
from raydata_ext.text.indexed.token_types import best_fitting_int_dtype
from raydata_ext.text.tokenizer import tokenize_line

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from raydata_ext.engine import Workers
    from raydata_ext.sources import Paths
    from raydata_ext.text.dictionary import Dictionary
    from raydata_ext.text.word_counts import Tokenizer

TOKENS = "input_ids"
UNKNOWN = "unknown"
LINES_AT_A_TIME = 10_000


@dataclass(frozen=True)
class Binarized:
    """Lines as token numbers, and what is to be said of them.

    Attributes:
        dataset: a row a line, with columns `input_ids` (lists of uint16 where the dictionary has less than 65500
            symbols, of int32 otherwise) and `unknown` (the words that were replaced by unk).
        nseq: lines.
        ntok: tokens, eos included.
        replaced: the words that were replaced, and how often.
        vocab_size: symbols of the dictionary.
    """

    dataset: Dataset
    nseq: int
    ntok: int
    replaced: Counter[str]
    vocab_size: int

    @property
    def nunk(self) -> int:
        """How many words were replaced by unk."""
        return self.replaced.total()

    @property
    def summary(self) -> str:
        """The line that fairseq's preprocessing prints."""
        percent = 100 * self.nunk / self.ntok if self.ntok else 0.0
        return f"{self.nseq} sents, {self.ntok} tokens, {percent:.3}% replaced (by <unk>)"

    def write_indexed(self, prefix: str | os.PathLike[str]) -> None:
        """Write the tokens as `prefix.bin` and `prefix.idx`, as `MMapIndexedDataset` and fairseq read them."""
        write_indexed_dataset(self.dataset, prefix, column=TOKENS, dtype=best_fitting_int_dtype(self.vocab_size))


class Binarizer:
    """Text files, or a column of a plan, to token numbers."""

    @staticmethod
    def binarize(
        filename: Paths | LazyDataset,
        dict: Dictionary,  # noqa: A002 - fairseq's name
        consumer: Callable[[NDArray[Any]], object] | None = None,
        tokenize: Tokenizer = tokenize_line,
        append_eos: bool = True,
        reverse_order: bool = False,
        *,
        column: str = "text",
        cache_dir: str | os.PathLike[str] | None = None,
        executor: str | None = None,
        workers: Workers | int | None = None,
    ) -> Binarized:
        r"""Encode lines with a dictionary.

        Args:
            filename: paths of text files (UTF-8, lines end at `\n` bytes alone), or a plan with a column of strings.
            dict: the dictionary.
            consumer: is given the tokens of each line, in order.
            tokenize: gives the words of a line.
            append_eos: whether eos follows each line.
            reverse_order: whether words are taken from the last to the first.
            column: the column, where `filename` is a plan.
            cache_dir: where results are kept, where `filename` are paths.
            executor: see `LazyDataset.collect`, as for `workers`.
            workers: size of the pool on Ray.
        """
        settings = {"dictionary": dict, "tokenize": tokenize, "append_eos": append_eos, "reverse_order": reverse_order}
        lines, column = _lines(filename, column, cache_dir)
        dataset = lines.map(
            EncodeLines,
            batched=True,
            batch_size=LINES_AT_A_TIME,
            batch_format="arrow",
            schema=pa.schema([_tokens_field(len(dict)), (UNKNOWN, pa.list_(pa.string()))]),
            constructor_kwargs={**settings, "column": column},
            desc="binarize",
        ).collect(executor=executor, workers=workers)
        _consume(dataset, consumer)
        return Binarized(dataset, len(dataset), *_count(dataset), len(dict))

    @staticmethod
    def binarize_alignments(
        filename: Paths | LazyDataset,
        alignment_parser: Callable[[str], Sequence[int]] | None = None,
        consumer: Callable[[NDArray[Any]], object] | None = None,
        *,
        column: str = "text",
        cache_dir: str | os.PathLike[str] | None = None,
        executor: str | None = None,
        workers: Workers | int | None = None,
    ) -> Dataset:
        """Read word alignments, a line of `source-target` pairs a sentence.

        Args:
            filename: as in `binarize`, as for the arguments that are not here.
            alignment_parser: gives the numbers of a line; None is `parse_alignment`.
            consumer: is given the numbers of each line, in order.
            column: as in `binarize`.
            cache_dir: as in `binarize`.
            executor: as in `binarize`.
            workers: as in `binarize`.

        Returns:
            A row a line, with a column `input_ids`, lists of int32: source, target, source, target, ...
        """
        lines, column = _lines(filename, column, cache_dir)
        dataset = lines.map(
            ParseAlignments,
            batched=True,
            batch_size=LINES_AT_A_TIME,
            batch_format="arrow",
            schema=pa.schema([(TOKENS, pa.list_(pa.int32()))]),
            constructor_kwargs={"parse": alignment_parser or parse_alignment, "column": column},
            desc="read alignments",
        ).collect(executor=executor, workers=workers)
        _consume(dataset, consumer)
        return dataset


class EncodeLines:
    """The step that encodes lines.

    Args:
        dictionary: the dictionary.
        tokenize: gives the words of a line.
        append_eos: whether eos follows each line.
        reverse_order: whether words are taken from the last to the first.
        column: name of the column of lines.
    """

    def __init__(
        self, dictionary: Dictionary, tokenize: Tokenizer, append_eos: bool, reverse_order: bool, column: str
    ) -> None:
        self._ids = dictionary.indices
        self._unk, self._unk_word = dictionary.unk(), dictionary.unk_word
        self._eos = dictionary.eos() if append_eos else None
        self._type = _tokens_field(len(dictionary)).type.value_type
        self._tokenize = tokenize
        self._reverse_order = reverse_order
        self._column = column

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Give the tokens, and the unknown words, of each line."""
        sentences = [self._tokenize(line) for line in batch.column(self._column).to_pylist()]
        if self._reverse_order:
            sentences = [words[::-1] for words in sentences]
        ends = np.cumsum([len(words) for words in sentences], dtype=np.int64)
        words = list(itertools.chain.from_iterable(sentences))
        ids = np.fromiter(map(self._ids.get, words, itertools.repeat(self._unk)), np.int64, count=len(words))
        unknown = [position for position in np.flatnonzero(ids == self._unk) if words[position] != self._unk_word]
        unknown_ends = np.searchsorted(unknown, ends)
        if self._eos is not None:
            ids = np.insert(ids, ends, self._eos)
            ends = ends + np.arange(1, 1 + len(ends))
        return pa.table(
            {
                TOKENS: _lists(ends, pa.array(ids.astype(self._type.to_pandas_dtype()))),
                UNKNOWN: _lists(unknown_ends, pa.array([words[position] for position in unknown], pa.string())),
            }
        )


class ParseAlignments:
    """The step that reads alignments.

    Args:
        parse: gives the numbers of a line.
        column: name of the column of lines.
    """

    def __init__(self, parse: Callable[[str], Sequence[int]], column: str) -> None:
        self._parse = parse
        self._column = column

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Give the numbers of each line."""
        parsed = [np.asarray(self._parse(line), np.int32) for line in batch.column(self._column).to_pylist()]
        ends = np.cumsum([len(numbers) for numbers in parsed], dtype=np.int64)
        return pa.table({TOKENS: _lists(ends, pa.array(np.concatenate([np.empty(0, np.int32), *parsed])))})


def parse_alignment(line: str) -> list[int]:
    """The numbers of a line such as `0-0 1-2`: source, target, source, target, ...

    Raises:
        ValueError: a pair is not two numbers with `-` between.
    """
    numbers: list[int] = []
    for pair in line.split():
        source, _, target = pair.partition("-")
        if not (source.isdecimal() and target.isdecimal()):
            raise ValueError(f"alignment {pair!r} in line {line!r}: expected is source-target, as in 0-0 1-2")
        numbers += [int(source), int(target)]
    return numbers


def _lines(
    filename: Paths | LazyDataset, column: str, cache_dir: str | os.PathLike[str] | None
) -> tuple[LazyDataset, str]:
    if isinstance(filename, LazyDataset):
        return filename, column
    return scan_dataset(filename, format="text", cache_dir=cache_dir), "text"


def _tokens_field(vocab_size: int) -> pa.Field:
    return pa.field(TOKENS, pa.list_(pa.from_numpy_dtype(best_fitting_int_dtype(vocab_size))))


def _lists(ends: NDArray[np.int64], values: pa.Array) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(np.concatenate([[0], ends]), pa.int32()), values)


def _count(dataset: Dataset) -> tuple[int, Counter[str]]:
    """How many tokens there are, and the words that were replaced."""
    tokens, replaced = 0, Counter[str]()
    for batch in dataset.table.iter_batches():
        tokens += len(batch.column(TOKENS).flatten())
        words = batch.column(UNKNOWN).flatten().value_counts()
        for word, count in zip(words.field("values").to_pylist(), words.field("counts").to_pylist(), strict=True):
            replaced[word] += count
    return tokens, replaced


def _consume(dataset: Dataset, consumer: Callable[[NDArray[Any]], object] | None) -> None:
    if consumer is not None:
        for batch in dataset.table.iter_batches():
            for row in batch.column(TOKENS):
                consumer(row.values.to_numpy())
