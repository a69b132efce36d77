"""CSV files as blocks of records."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from raydata_ext.errors import ReadError
from raydata_ext.sources.csv_records import CsvFault, Dialect, record_blocks

COMMA = Dialect(",", '"', "utf-8")


def records(file, dialect: Dialect = COMMA, chunk_bytes: int = 1000) -> list[bytes]:
    blocks = record_blocks(file, dialect, chunk_bytes)
    return [block.part(number, number + 1).data for block in blocks for number in range(len(block))]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(
    st.lists(st.lists(st.text(alphabet='a,"\né', max_size=6), min_size=2, max_size=3), max_size=8),
    st.integers(1, 20),
    st.sampled_from(["\n", "\r\n"]),
)
@example([["a", '"\n"']], 1, "\n")
def test_records_are_those_that_were_written_wherever_chunks_end(write, values, chunk_bytes: int, ending: str) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator=ending).writerows(values)
    found = records(write(out.getvalue().encode()), chunk_bytes=chunk_bytes)
    assert [next(csv.reader(io.StringIO(record.decode(), newline=""))) for record in found] == values


@pytest.mark.parametrize("chunk_bytes", [1, 2, 3, 1000])
def test_lines_are_counted_through_quoted_line_ends_and_empty_lines(write, chunk_bytes: int) -> None:
    file = write(b'\xef\xbb\xbfa,b\n\n"1\n2\n3",x\r\n\r\ny,z')
    blocks = list(record_blocks(file, COMMA, chunk_bytes))
    found = [block.part(number, number + 1) for block in blocks for number in range(len(block))]
    assert [(part.line, part.data) for part in found] == [(1, b"a,b\n"), (3, b'"1\n2\n3",x\r\n'), (7, b"y,z")]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b'a,b\n5" pipe,2\nx,y\n', 2),
        (b'a,b\n"5" pipe,2\nx,y\n', 2),
        (b'a,b\n"1\n2",x\n "q",y\n', 4),
        (b'a,b\nx,"y\nz,w\n', 2),
        (b'a,b\nx,"', 2),
    ],
)
@pytest.mark.parametrize("chunk_bytes", [1, 1000])
def test_a_misplaced_quote_is_named_with_its_line(write, content: bytes, line: int, chunk_bytes: int) -> None:
    file = write(content)
    with pytest.raises(CsvFault) as caught:
        records(file, chunk_bytes=chunk_bytes)
    assert caught.value.message.startswith(f"line {line}: a quote")
    assert "set quote=None where quotes have no meaning" in caught.value.message
    assert len(records(file, Dialect(",", None, "utf-8"))) == content.count(b"\n") + (not content.endswith(b"\n"))


def test_records_before_a_misplaced_quote_come_first(write) -> None:
    reading = record_blocks(write(b'a,b\nc,d\n5" pipe,2\n'), COMMA)
    assert len(next(reading)) == 2
    with pytest.raises(CsvFault, match="quote"):
        next(reading)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "cp1252"])
def test_other_encodings_become_utf8(write, encoding: str) -> None:
    assert records(write("größe,b\n1,2\n".encode(encoding)), Dialect(",", '"', encoding), 3) == [
        "größe,b\n".encode(),
        b"1,2\n",
    ]


@pytest.mark.parametrize("chunk_bytes", [1, 2, 3, 100])
def test_what_cannot_be_decoded_is_named_with_its_byte(write, chunk_bytes: int) -> None:
    content = "ab,cd\n".encode("utf-16-le") + b"\x00\xdc" + "x\n".encode("utf-16-le")
    with pytest.raises(ReadError, match="byte 12: not utf-16-le"):
        records(write(content), Dialect(",", '"', "utf-16-le"), chunk_bytes)


def test_a_character_that_is_cut_off_at_the_end_is_an_error(write) -> None:
    content = "ab,cd\nx,y\n".encode("utf-16-le") + b"x"
    with pytest.raises(ReadError, match=r"byte 20: not utf-16-le \(truncated data\)"):
        records(write(content), Dialect(",", '"', "utf-16-le"), 100)
