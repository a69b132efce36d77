"""JSON lines files."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raydata_ext.errors import ReadError
from raydata_ext.sources import Piece
from raydata_ext.sources.jsonl import JsonLinesReader

READER = JsonLinesReader()


def dump(rows: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.fixed_dictionaries({"a": st.integers(0, 10**6)}), max_size=20), st.integers(1, 60))
def test_the_rows_do_not_depend_on_how_a_file_is_split(write, rows, values, max_bytes: int) -> None:
    assert rows(READER, *READER.split(write(dump(values)), max_bytes)) == values


def test_a_file_larger_than_a_block_is_read_in_several_batches(write) -> None:
    file = write(dump([{"n": number, "text": "x" * 1000} for number in range(10_000)]))
    batches = list(READER.read(Piece(file)))
    assert len(batches) == 3
    assert [number for batch in batches for number in batch.column("n").to_pylist()] == list(range(10_000))


def test_late_keys_appear_in_the_blocks_that_have_them(write) -> None:
    file = write(dump([{"n": 1, "t": "x" * (9 << 20)}, {"n": 2, "late": True, "t": "x" * (9 << 20)}]))
    first, second = READER.read(Piece(file))
    assert first.schema.names == ["n", "t"]
    assert second.schema.names == ["n", "late", "t"]


def test_a_byte_order_mark_and_carriage_returns_are_taken_off(write, rows) -> None:
    assert rows(READER, write(b'\xef\xbb\xbf{"a": 1}\r\n{"a": 2}\r\n')) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_an_empty_file_has_no_rows(write, rows, content: bytes) -> None:
    assert rows(READER, write(content)) == []


def test_columns_are_chosen_and_a_key_that_no_line_has_is_null(write, rows) -> None:
    reader = JsonLinesReader(columns=("b", "nope", "a"))
    file = write(b'{"a": 1, "b": 2, "c": 3}\n{"a": 4}\n')
    found = rows(reader, file)
    assert found == [{"b": 2, "nope": None, "a": 1}, {"b": None, "nope": None, "a": 4}]
    assert list(found[0]) == ["b", "nope", "a"]


def test_compressed_files_are_read(write, rows) -> None:
    assert rows(READER, write(gzip.compress(b'{"a": 1}\n') + gzip.compress(b'{"a": 2}\n'))) == [{"a": 1}, {"a": 2}]


def test_a_json_array_is_told_from_json_lines(write, rows) -> None:
    for content in (b'[{"a": 1}, {"a": 2}]', b'[\n  {"a": 1},\n  {"a": 2}\n]\n'):
        with pytest.raises(
            ReadError, match=r"line 1 \(from byte 0\): an array where one object a line is expected; set format="
        ):
            rows(READER, write(content))


def test_a_truncated_last_line_is_named_with_line_and_byte(write, rows) -> None:
    file = write(b'{"a": 1}\n\n{"a": 2}\n{"a": "some te')
    with pytest.raises(ReadError) as caught:
        rows(READER, file)
    assert str(caught.value) == (
        f'{file.path}: line 4 (from byte 19): not JSON (Unterminated string starting at at column 7): {{"a": "some te'
    )


def test_a_byte_order_mark_counts_as_bytes(write, rows) -> None:
    with pytest.raises(ReadError, match=r"line 2 \(from byte 12\): not JSON"):
        rows(READER, write(b'\xef\xbb\xbf{"a": 1}\nx\n'))


@pytest.mark.parametrize("bad", [b"{", b"null", b'{"n": "mixed"}', b'{"n": 1, "n": 2}', b'{"n": "\xff"}'])
def test_the_place_is_right_in_later_blocks_and_ranges_and_compressed(write, rows, bad: bytes) -> None:
    before = dump([{"n": number, "text": "x" * 1000} for number in range(5000)])
    content = before + bad + b"\n" + before[: before.index(b"\n", 5000) + 1]
    plain, packed = write(content), write(gzip.compress(content, 1), "packed")
    place = rf"line 5001 \(from byte {len(before)}\): "
    with pytest.raises(ReadError, match=f"packed: {place}"):
        rows(READER, packed)
    with pytest.raises(ReadError, match=f"data: {place}"):
        rows(READER, plain)
    start = len(before) - 5000
    with pytest.raises(ReadError, match=rf"data\[{start}:{len(content)}\]: {place}"):
        rows(READER, Piece(plain, start, len(content), len(content) - start))


def test_blocks_before_a_fault_are_read(write) -> None:
    reading = READER.read(Piece(write(dump([{"n": n, "text": "x" * 1000} for n in range(5000)]) + b"oops")))
    assert next(reading).num_rows > 4000
    with pytest.raises(ReadError, match="line 5001 "):
        list(reading)
