"""JSON files."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from raydata_ext.errors import ReadError
from raydata_ext.sources import Piece
from raydata_ext.sources.json_array import JsonReader

if TYPE_CHECKING:
    from raydata_ext.sources.reader import BadRow

READER = JsonReader()


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"[]", []),
        (b" [ ] ", []),
        (b'[{"a": 1}]', [{"a": 1}]),
        (b'\xef\xbb\xbf[{"a": 1},\r\n{"a": 2}]\r\n', [{"a": 1}, {"a": 2}]),
        (b'[\n  {\n    "a": [1,\n 2]\n  },\n  {"a": []}\n]', [{"a": [1, 2]}, {"a": []}]),
        (b'[{"a": "],[{}\\"\\\\"}]', [{"a": '],[{}"\\'}]),
        (b'[{"a": "\\u00e9\\ud83d\\ude00"}, {"b": null}]', [{"a": "é😀", "b": None}, {"a": None, "b": None}]),
        (b'[{"d": "2020-01-01"}]', [{"d": "2020-01-01"}]),
        (b'{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
        (b"", []),
    ],
)
def test_elements_are_rows_and_json_lines_are_read_too(write, rows, content: bytes, found: list[object]) -> None:
    assert rows(READER, write(content)) == found
    assert rows(READER, write(gzip.compress(content))) == found


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'[{"a": 1}, {"a": }]', r"element 2 \(from byte 10\): not JSON .*: *\{\"a\": \}"),
        (b'[{"a": 1}, 7]', r"element 2 \(from byte 10\): a JSON object is expected: *7"),
        (b'[{"a": 1}, null]', r"element 2 \(from byte 10\): a JSON object is expected"),
        (b'[{"a": 1}, [2]]', r"element 2 \(from byte 10\): a JSON object is expected"),
        (b'[{"a": 1},, {"a": 2}]', r"element 2 \(from byte 10\): there is a comma, and no element"),
        (b'[{"a": 1},]', r"element 2 \(from byte 10\): there is a comma, and no element"),
        (b'[{"a": 1} {"a": 2}]', r"element 1 \(from byte 0\): not JSON"),
        (b'[{"a": 1}, {"a": "x"}]', r"element 2 \(from byte 10\): .*must be of one kind"),
        (b'[{"a": "one\nline"}]', r"element 1 \(from byte 0\): not JSON"),
        (b'[{"a": "\xff"}]', r"element 1 \(from byte 0\): not UTF-8"),
        (b'[{"a": 1', "byte 8: the array does not end"),
        (b'[{"a": 1}] x', "after byte 10, where the array ends"),
    ],
)
def test_a_fault_is_named_with_element_and_byte(write, rows, content: bytes, problem: str) -> None:
    with pytest.raises(ReadError, match=f"data: {problem}"):
        rows(READER, write(content))


def test_the_place_is_right_in_later_blocks(write, rows) -> None:
    values = [{"n": number, "text": "x" * 1000} for number in range(9000)]
    before = json.dumps(values).encode()[:-1]
    with pytest.raises(ReadError, match=rf"element 9001 \(from byte {len(before) + 1}\): not JSON"):
        rows(READER, write(gzip.compress(before + b",{oops}]", 1)))


def test_a_large_array_is_read_in_blocks_and_not_split(write) -> None:
    values = [{"n": number, "text": "x" * 1000} for number in range(10_000)]
    file = write(json.dumps(values, indent=1).encode())
    assert READER.split(file, 1000) == [Piece(file)]
    batches = list(READER.read(Piece(file)))
    assert len(batches) == 3
    assert [number for batch in batches for number in batch.column("n").to_pylist()] == list(range(10_000))


def test_bad_elements_are_set_aside_one_by_one(write) -> None:
    content = b'[{"a": 1}, {oops}, null, {"a": "x"}, 7, [8], {"a": 2}]'
    bad: list[BadRow] = []
    rows = [row for batch in READER.read(Piece(write(content)), bad.append) for row in batch.to_pylist()]
    assert rows == [{"a": 1}, {"a": 2}]
    assert [(row.row, content[row.byte_offset :].split(b"}")[0][:5]) for row in bad] == [
        (1, b" {oop"),
        (2, b" null"),
        (3, b' {"a"'),
        (4, b" 7, ["),
        (5, b" [8],"),
    ]


def test_json_lines_are_split(write, rows) -> None:
    file = write(b'{"a": 1}\n' * 10)
    assert len(READER.split(file, 20)) == 5
    assert rows(READER, *READER.split(file, 20)) == [{"a": 1}] * 10


def test_columns_are_chosen(write, rows) -> None:
    assert rows(JsonReader(columns=("b",)), write(b'[{"a": 1, "b": 2}, {"a": 3}]')) == [{"b": 2}, {"b": None}]
