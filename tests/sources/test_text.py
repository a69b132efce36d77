"""Text files."""

from __future__ import annotations

import bz2
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raydata_ext.errors import ReadError
from raydata_ext.sources import InputFile, Piece, make_reader
from raydata_ext.sources.text import TextReader

LINES, WHOLE = TextReader(), TextReader(unit="file")


def texts(rows: list[dict[str, object]]) -> list[object]:
    assert all(list(row) == ["text"] for row in rows)
    return [row["text"] for row in rows]


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\nb", ["a", "", "b"]),
        (b"\n", [""]),
        (b"\n\n", ["", ""]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\r\nb", ["a\r", "b"]),
        (b"a\rb\nc\r", ["a\rb", "c\r"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        (b"\xef\xbb\xbf", []),
        ("ä\u2028ß\x85\x0b\x0c\n😀\0\n".encode(), ["ä\u2028ß\x85\x0b\x0c", "😀\0"]),
    ],
)
def test_a_line_ends_at_a_line_feed_and_nowhere_else(write, rows, content: bytes, lines: list[str]) -> None:
    assert texts(rows(LINES, write(content))) == lines


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(alphabet="ab\r\né", max_size=60), st.integers(1, 30))
def test_the_rows_do_not_depend_on_how_a_file_is_split(write, rows, content: str, max_bytes: int) -> None:
    file = write(content.encode())
    wanted = [line.removesuffix("\r") for line in content.split("\n")[:-1]]
    wanted += [rest for rest in [content.rpartition("\n")[2]] if rest]
    assert texts(rows(LINES, *LINES.split(file, max_bytes))) == wanted


def test_whole_files_are_taken_as_they_are(write, rows) -> None:
    assert texts(rows(WHOLE, write(b"a\r\nb\n"), write(b"", "2"), write(b"\xef\xbb\xbfc", "3"))) == [
        "a\r\nb\n",
        "",
        "c",
    ]
    file = write(b"ab" * 100)
    assert WHOLE.split(file, 10) == [Piece(file)]


def test_an_empty_file_of_lines_still_has_a_schema(write) -> None:
    [batch] = LINES.read(Piece(write(b"")))
    assert (batch.num_rows, batch.schema) == (0, pa.schema([("text", pa.string())]))


def test_batches_are_valid_arrow(write) -> None:
    batches = list(LINES.read(Piece(write("ä\nö\r\n\nü".encode()))))
    for batch in batches:
        batch.validate(full=True)
    assert [text for batch in batches for text in batch["text"].to_pylist()] == ["ä", "ö", "", "ü"]


def test_compressed_text_is_read(write, rows) -> None:
    assert texts(rows(LINES, write(bz2.compress(b"a\nb\n")))) == ["a", "b"]
    assert texts(rows(WHOLE, write(bz2.compress(b"a\nb\n")))) == ["a\nb\n"]


def test_truncated_compressed_text_gives_whole_lines_and_then_an_error(write) -> None:
    content = bz2.compress(b"".join(b"%d\n" % number for number in range(300_000)))
    received = []
    with pytest.raises(ReadError, match="of the decompressed data"):
        received.extend(
            row["text"]
            for batch in LINES.read(Piece(write(content[: len(content) * 3 // 4])))
            for row in batch.to_pylist()
        )
    assert len(received) > 10_000
    assert received == [str(number) for number in range(len(received))]


def test_the_path_column_holds_names_as_listed(write, rows) -> None:
    reader = TextReader(path_column="path", column="body")
    file = write(b"a\nb\n")
    named = InputFile(file.path, "sub/data", file.size, file.version)
    assert rows(reader, named) == [{"body": "a", "path": "sub/data"}, {"body": "b", "path": "sub/data"}]
    assert reader.rows_hold_names
    assert not LINES.rows_hold_names
    assert not TextReader(path_column="path", columns=("text",)).rows_hold_names


def test_names_that_are_no_unicode_are_escaped(write, rows) -> None:
    file = write(b"a\n", "bad\udcff.txt")
    assert rows(TextReader(path_column="path", columns=("path",)), file) == [{"path": "bad\\xff.txt"}]


def test_columns_choose_and_order(write, rows) -> None:
    reader = TextReader(path_column="path", columns=("path", "text"))
    assert list(rows(reader, write(b"a"))[0]) == ["path", "text"]
    with pytest.raises(ValueError, match=r"have the columns .*not \['nope'\]; check columns="):
        make_reader("text", {"columns": ["nope"]})
    with pytest.raises(ValueError, match="column and path_column are both 'text'"):
        make_reader("text", {"path_column": "text"})


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "shift_jis", "gb18030", "euc_kr", "utf-8-sig", "utf-7"])
@pytest.mark.parametrize("unit", ["line", "file"])
def test_other_encodings_are_decoded(write, rows, encoding: str, unit: str) -> None:
    text = {"shift_jis": "日本", "gb18030": "中文", "euc_kr": "한국"}.get(encoding, "caf\u00e9")
    reader = TextReader(encoding=encoding, unit=unit)
    content = f"{text}\n{text}".encode(encoding)
    assert texts(rows(reader, write(content))) == ([text, text] if unit == "line" else [f"{text}\n{text}"])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "cp037"])
def test_encodings_with_another_line_end_are_for_whole_files(write, rows, encoding: str) -> None:
    reader = TextReader(encoding=encoding, unit="file")
    assert texts(rows(reader, write("é\nb".encode(encoding)))) == ["é\nb"]
    with pytest.raises(ValueError, match=r'line end is not the byte 0x0A there; set unit="file", or convert'):
        make_reader("text", {"encoding": encoding})


@pytest.mark.parametrize("encoding", ["nonsense", "base64", "rot13"])
def test_an_unknown_encoding_is_refused(encoding: str) -> None:
    with pytest.raises(ValueError, match=f"'{encoding}' is no text encoding that Python knows"):
        make_reader("text", {"encoding": encoding})


@pytest.mark.parametrize("reader", [LINES, WHOLE])
@pytest.mark.parametrize(("content", "byte"), [(b"abc\xff\n", 3), (b"\xef\xbb\xbfab\n\xc3", 6), (b"\xed\xa0\x80", 0)])
def test_bytes_outside_of_the_encoding_are_an_error_with_file_and_byte(write, rows, reader, content, byte) -> None:
    file = write(content)
    with pytest.raises(ReadError, match=rf"{file.path}: byte {byte}: not utf-8 .*set encoding=.*encoding_errors"):
        rows(reader, file)


def test_the_byte_is_right_in_later_ranges(write, rows) -> None:
    file = write(b"abcdefghi\n" * 10 + b"abc\xff\n")
    with pytest.raises(ReadError, match=r"data\[100:105\]: byte 103: not utf-8"):
        rows(LINES, Piece(file, 100, 105, 5))


def test_encoding_errors_can_be_replaced_or_ignored(write, rows) -> None:
    content = b"a\xffb\nc"
    assert texts(rows(TextReader(encoding_errors="replace"), write(content))) == ["a\ufffdb", "c"]
    assert texts(rows(TextReader(encoding_errors="ignore"), write(content))) == ["ab", "c"]


def test_a_huge_line_is_one_row(write, rows) -> None:
    content = b"a\n" + b"x" * (20 << 20) + b"\nb"
    assert [len(text) for text in texts(rows(LINES, write(content)))] == [1, 20 << 20, 1]


def test_the_hash_is_that_of_the_bytes(write) -> None:
    first, same, other = write(b"a\nb\n", "1"), write(b"a\nb\n", "2"), write(b"a\nc\n", "3")
    assert LINES.hash_piece(Piece(first)) == LINES.hash_piece(Piece(same)) != LINES.hash_piece(Piece(other))
    assert len(LINES.hash_piece(Piece(first))) == 32
    Path(first.path).unlink()
    with pytest.raises(ReadError, match="1: cannot be opened"):
        LINES.hash_piece(Piece(first))


PARAGRAPHS = TextReader(unit="paragraph")


@pytest.mark.parametrize(
    ("content", "paragraphs"),
    [
        (b"", []),
        (b"\n \n\t\n", []),
        (b"a", ["a"]),
        (b"a\nb\n", ["a\nb"]),
        (b"\n\na\n  b\n\n\n \t\nc\n", ["a\n  b", "c"]),
        (b"a\r\n\r\nb\r\nc", ["a", "b\nc"]),
        (b"\xef\xbb\xbf\na\n\n", ["a"]),
        (b"a\n\n   ", ["a"]),
        (b"a\n   ", ["a"]),
        (b"   ", []),
        ("ä\n\n\u2028\n".encode(), ["ä", "\u2028"]),
    ],
)
def test_a_paragraph_is_a_run_of_lines_that_are_not_blank(write, rows, content: bytes, paragraphs: list[str]) -> None:
    assert texts(rows(PARAGRAPHS, write(content))) == paragraphs
    assert texts(rows(PARAGRAPHS, write(bz2.compress(content)))) == paragraphs


def test_paragraphs_run_over_the_borders_of_blocks_and_files_of_them_stay_whole(write) -> None:
    paragraph = "\n".join(["some words that make a line"] * 50_000)
    file = write((f"{paragraph}\n\n" * 10).encode())
    assert PARAGRAPHS.split(file, 1000) == [Piece(file)]
    batches = list(PARAGRAPHS.read(Piece(file)))
    assert len(batches) > 2
    assert [text for batch in batches for text in batch.column(0).to_pylist()] == [paragraph] * 10
