"""The steps of the engine that turn columns of lines into columns of numbers: of words, and of alignments."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from raydata_ext.engine import Counted
from raydata_ext.fingerprint import hash_value
from raydata_ext.sources.token_types import best_fitting_int_dtype
from raydata_ext.text.tokenizer import tokenize_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from raydata_ext.dataset import LazyDataset
    from raydata_ext.text.dictionary import Dictionary
    from raydata_ext.text.word_counts import Tokenizer

TOKENS = "input_ids"
LINES_AT_A_TIME = 10_000
DICTIONARY_KEY = b"dictionary"
"""In the metadata of a token column: the hash of the dictionary that its numbers are of."""


def encode_columns(
    lines: LazyDataset,
    dictionaries: Mapping[str, Dictionary],
    *,
    tokenize: Tokenizer = tokenize_line,
    append_eos: bool = True,
    reverse_order: bool = False,
    names: Mapping[str, str] | None = None,
) -> LazyDataset:
    """Plan the encoding of columns of lines. The content of the dictionaries is part of the key of the result.

    Args:
        lines: a plan with columns of strings.
        dictionaries: by the column that each encodes.
        tokenize: gives the words of a line.
        append_eos: whether eos follows each line.
        reverse_order: whether words are taken from the last to the first.
        names: other names for columns of tokens.

    Returns:
        A plan with two columns in place of each: its tokens under its name (lists of uint16 where the dictionary has
        less than 65500 symbols, of int32 otherwise), and the words that were replaced by unk, see `unknown_column`.
        Other columns go. The step counts tokens (eos included) and unknown words of each column for the report.
    """
    names = {column: (names or {}).get(column, column) for column in dictionaries}
    settings: dict[str, Any] = {"tokenize": tokenize, "append_eos": append_eos, "reverse_order": reverse_order}
    encoders = {column: LineEncoder(dictionary, **settings) for column, dictionary in dictionaries.items()}
    fields = []
    for column, name in names.items():
        fields.append(encoders[column].field(name))
        fields.append(pa.field(unknown_column(name), pa.list_(pa.string())))
    return lines.map(
        EncodeColumns,
        batched=True,
        batch_size=LINES_AT_A_TIME,
        batch_format="arrow",
        schema=pa.schema(fields),
        constructor_kwargs={"dictionaries": dict(dictionaries), "names": names, **settings},
        desc="binarize",
    )


def unknown_column(name: str) -> str:
    """The column of the words that were replaced by unk in a column of tokens."""
    return "unknown" if name == TOKENS else f"{name}_unknown"


def dictionary_hash(dictionary: Dictionary) -> bytes:
    """What stands in the metadata of a column that was encoded with a dictionary: its symbols and their numbers."""
    return hash_value(dictionary).encode()


class EncodeColumns:
    """The step that encodes columns of lines; see `encode_columns`.

    Args:
        dictionaries: by column.
        names: what columns of tokens are called.
        settings: of `LineEncoder`.
    """

    def __init__(self, dictionaries: Mapping[str, Dictionary], names: Mapping[str, str], **settings: Any) -> None:
        self._encoders = {column: LineEncoder(dictionary, **settings) for column, dictionary in dictionaries.items()}
        self._names = names

    def __call__(self, batch: pa.Table) -> Counted:
        """Give the tokens, and the unknown words, of each line, and count both."""
        columns, counts = {}, {}
        for column, encoder in self._encoders.items():
            name = self._names[column]
            tokens, unknown = encoder.encode(batch.column(column).to_pylist())
            columns[name], columns[unknown_column(name)] = tokens, unknown
            counts[f"tokens in {name}"] = len(tokens.values)
            counts[f"unknown words in {name}"] = len(unknown.values)
        return Counted(pa.table(columns), counts)


class LineEncoder:
    """Encodes many lines at once.

    Args:
        dictionary: the dictionary.
        tokenize: gives the words of a line.
        append_eos: whether eos follows each line.
        reverse_order: whether words are taken from the last to the first.
    """

    def __init__(
        self, dictionary: Dictionary, *, tokenize: Tokenizer, append_eos: bool = True, reverse_order: bool = False
    ) -> None:
        self._dictionary = dictionary
        self._ids = dictionary.indices
        self._unk, self._unk_word = dictionary.unk(), dictionary.unk_word
        self._eos = dictionary.eos() if append_eos else None
        self._dtype = best_fitting_int_dtype(len(dictionary))
        self._tokenize = tokenize
        self._reverse_order = reverse_order

    def field(self, name: str) -> pa.Field:
        """The column of tokens, which says which dictionary they are of."""
        metadata = {DICTIONARY_KEY: dictionary_hash(self._dictionary)}
        return pa.field(name, pa.list_(pa.from_numpy_dtype(self._dtype)), metadata=metadata)

    def encode(self, lines: Sequence[str]) -> tuple[pa.ListArray, pa.ListArray]:
        """The tokens of each line, and the words of each that the dictionary lacks."""
        sentences = [self._tokenize(line) for line in lines]
        if self._reverse_order:
            sentences = [words[::-1] for words in sentences]
        ends = np.cumsum([len(words) for words in sentences], dtype=np.int64)
        words = list(itertools.chain.from_iterable(sentences))
        ids = np.fromiter(map(self._ids.get, words, itertools.repeat(self._unk)), np.int64, count=len(words))
        unknown = [place for place in np.flatnonzero(ids == self._unk) if words[place] != self._unk_word]
        unknown_ends = np.searchsorted(unknown, ends)
        if self._eos is not None:
            ids = np.insert(ids, ends, self._eos)
            ends = ends + np.arange(1, 1 + len(ends))
        replaced = pa.array([words[place] for place in unknown], pa.string())
        return _lists(ends, pa.array(ids.astype(self._dtype))), _lists(unknown_ends, replaced)


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


def _lists(ends: NDArray[np.int64], values: pa.Array) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(np.concatenate([[0], ends]), pa.int32()), values)
