r"""Turning lines of text into token numbers, as a step of the engine.

Lines end at `\n` bytes and nowhere else, so a source and a target file of as many lines give as many rows each,
whatever else is in them and however they are cut. Rows are Arrow lists; `write_indexed` makes a `.bin` and `.idx` of
them.

Source: `Binarizer` of fairseq.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from raydata_ext.dataset import Dataset, LazyDataset, scan_dataset
from raydata_ext.sources.token_types import best_fitting_int_dtype
from raydata_ext.text.line_encoding import (
    LINES_AT_A_TIME,
    TOKENS,
    ParseAlignments,
    encode_columns,
    parse_alignment,
    unknown_column,
)
from raydata_ext.text.tokenizer import tokenize_line

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from raydata_ext.engine import Workers
    from raydata_ext.sources import Paths
    from raydata_ext.text.dictionary import Dictionary
    from raydata_ext.text.word_counts import Tokenizer


@dataclass(frozen=True)
class Binarized:
    """Lines as token numbers, and what is to be said of them.

    Attributes:
        dataset: a row a line, with a column of tokens and one of the words that were replaced by unk, see
            `encode_columns`.
        nseq: lines.
        ntok: tokens, eos included.
        replaced: the words that were replaced, and how often.
        vocab_size: symbols of the dictionary.
        column: the column of tokens.
    """

    dataset: Dataset
    nseq: int
    ntok: int
    replaced: Counter[str]
    vocab_size: int
    column: str = TOKENS

    @classmethod
    def of(cls, dataset: Dataset, vocab_size: int, column: str = TOKENS) -> Binarized:
        """Count what is in a data set that `encode_columns` made."""
        tokens, replaced = 0, Counter[str]()
        for batch in dataset.table.select([column, unknown_column(column)]).iter_batches():
            tokens += len(batch.column(0).flatten())
            words = batch.column(1).flatten().value_counts()
            for word, count in zip(words.field("values").to_pylist(), words.field("counts").to_pylist(), strict=True):
                replaced[word] += count
        return cls(dataset, len(dataset), tokens, replaced, vocab_size, column)

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
        self.dataset.to_fairseq(prefix, column=self.column, dtype=best_fitting_int_dtype(self.vocab_size))


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

        Returns:
            The rows, with columns `input_ids` and `unknown`, and what is to be said of them.
        """
        lines, column = _lines(filename, column, cache_dir)
        encoded = encode_columns(
            lines,
            {column: dict},
            tokenize=tokenize,
            append_eos=append_eos,
            reverse_order=reverse_order,
            names={column: TOKENS},
        )
        dataset = encoded.collect(executor=executor, workers=workers)
        _consume(dataset, consumer)
        return Binarized.of(dataset, len(dict))

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


def _lines(
    filename: Paths | LazyDataset, column: str, cache_dir: str | os.PathLike[str] | None
) -> tuple[LazyDataset, str]:
    if isinstance(filename, LazyDataset):
        return filename, column
    return scan_dataset(filename, format="text", cache_dir=cache_dir), "text"


def _consume(dataset: Dataset, consumer: Callable[[NDArray[Any]], object] | None) -> None:
    if consumer is not None:
        for batch in dataset.table.iter_batches():
            for row in batch.column(TOKENS):
                consumer(row.values.to_numpy())
