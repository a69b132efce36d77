"""What all readers have in common."""

from __future__ import annotations

import pickle

import pytest

from raydata_ext.errors import ReadError
from raydata_ext.sources import InputFile, Piece, make_reader
from raydata_ext.sources.jsonl import JsonLinesReader
from raydata_ext.sources.reader import require_columns, runs_of_units
from raydata_ext.sources.text import TextReader

FILE = InputFile("/c/a", "a", 100, "")


def test_the_digest_tells_format_and_options_apart() -> None:
    readers = [TextReader(), TextReader(unit="file"), TextReader(columns=("text",)), JsonLinesReader()]
    assert len({reader.digest for reader in readers}) == len(readers)
    assert TextReader(unit="line").digest == TextReader().digest
    assert all(len(reader.digest) == 32 for reader in readers)


def test_a_reader_is_a_value_that_travels() -> None:
    reader = TextReader(unit="file", path_column="path")
    assert pickle.loads(pickle.dumps(reader)) == reader
    with pytest.raises(ValueError, match="frozen"):
        reader.unit = "line"


@pytest.mark.parametrize(
    ("columns", "problem"),
    [([], "name one column at least"), (["text", "text"], "a column is named twice"), ("text", "valid tuple")],
)
def test_columns_are_a_list_of_distinct_names(columns: object, problem: str) -> None:
    with pytest.raises(ValueError, match=f"columns: .*{problem}"):
        make_reader("text", {"columns": columns})


def test_units_are_run_together_up_to_the_limit() -> None:
    pieces = runs_of_units(FILE, [30, 30, 30, 100, 0, 10], 70)
    assert pieces == [Piece(FILE, 0, 2, 60), Piece(FILE, 2, 3, 30), Piece(FILE, 3, 4, 100), Piece(FILE, 4, 6, 10)]
    assert runs_of_units(FILE, [], 70) == [Piece(FILE, 0, 0, 0)]


def test_a_missing_or_ambiguous_column_is_named_with_those_there_are() -> None:
    require_columns(Piece(FILE), ["b"], ["a", "b"])
    with pytest.raises(ReadError, match=r"/c/a: no column 'x'; the file has \['a', 'b'\]; check columns="):
        require_columns(Piece(FILE), ["a", "x"], ["a", "b"])
    with pytest.raises(ReadError, match="more than one column 'a'"):
        require_columns(Piece(FILE), ["a"], ["a", "a"])
