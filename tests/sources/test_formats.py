"""Formats by name and by suffix."""

from __future__ import annotations

import pytest

from raydata_ext.sources import FORMATS, InputFile, make_reader
from raydata_ext.sources.formats import infer_format


def files(*names: str) -> list[InputFile]:
    return [InputFile(f"/c/{name}", name, 1, "") for name in names]


@pytest.mark.parametrize(
    ("name", "format_"),
    [
        ("a.txt", "text"),
        ("a.MD", "text"),
        ("a.jsonl", "jsonl"),
        ("a.json.gz", "json"),
        ("a.csv.gz", "csv"),
        ("a.tsv", "tsv"),
        ("d.x/a.ndjson.ZST", "jsonl"),
        ("a.txt.xz", "text"),
        ("a.parquet", "parquet"),
        ("a.arrow", "arrow"),
        ("a.feather", "arrow"),
    ],
)
def test_the_suffix_tells_the_format_compressed_or_not(name: str, format_: str) -> None:
    assert infer_format(files(name)) == format_


@pytest.mark.parametrize("name", ["a.exe", "a", "a.gz", ".txt"])
def test_an_unknown_suffix_asks_for_the_format(name: str) -> None:
    with pytest.raises(
        ValueError, match=rf"the suffix of '/c/{name}' stands for no known format; set format= to one of"
    ):
        infer_format(files(name))


def test_mixed_suffixes_name_a_file_of_each_format() -> None:
    with pytest.raises(
        ValueError,
        match=r"several formats: /c/a\.txt \(text\), /c/b\.jsonl \(jsonl\), /c/d \(unknown\); narrow the pattern",
    ):
        infer_format(files("a.txt", "b.jsonl", "c.txt", "d"))


def test_every_format_is_made_by_its_name() -> None:
    for name, reader in FORMATS.items():
        assert type(make_reader(name, {"columns": None})) is reader


def test_an_unknown_format_names_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"unknown format 'csv3'; the formats are \['arrow', 'csv', .*'text'"):
        make_reader("csv3", {})


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"unti": "line"}, "unti: there is no such option"),
        ({"unit": "page"}, "unit: Input should be 'line', 'paragraph' or 'file'"),
        ({"encoding": "latin-99"}, "encoding: 'latin-99' is no text encoding"),
        ({"unit": "line", "encoding": "utf-16"}, "files in utf-16 cannot be cut at lines"),
    ],
)
def test_a_wrong_option_is_named_with_the_valid_ones(options: dict[str, object], problem: str) -> None:
    with pytest.raises(ValueError, match="wrong options for format 'text'") as caught:
        make_reader("text", options)
    assert f"'text': {problem}" in str(caught.value)
    assert "; the options are ['column', 'columns', 'encoding', 'encoding_errors', 'path_column', 'unit']" in str(
        caught.value
    )
