"""CSV and TSV files."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raydata_ext.errors import ReadError
from raydata_ext.sources import Piece, make_reader
from raydata_ext.sources.csv_file import CsvReader, TsvReader

if TYPE_CHECKING:
    from raydata_ext.sources.reader import BadRow

READER = CsvReader()


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", []),
        (b"\n\r\n", []),
        (b"a,b\n", []),
        (b"a,b\n1,x\n2,y", [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]),
        (b"\xef\xbb\xbfa,b\r\n1,x\r\n", [{"a": 1, "b": "x"}]),
        (b'a,b\n1,"x\ny, ""z"""\n', [{"a": 1, "b": 'x\ny, "z"'}]),
        (b'a,b\n,""\n1,\n', [{"a": None, "b": ""}, {"a": 1, "b": None}]),
        (b"a,b\n\n1,x\n\n\n2,y\n\n", [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]),
        (b"a\n1\n2.5\n", [{"a": 1.0}, {"a": 2.5}]),
        (b"a\ntrue\nFALSE\n", [{"a": True}, {"a": False}]),
        (b"a,b\n007,2020-01-01\n", [{"a": "007", "b": "2020-01-01"}]),
        (b"a,b\nnull,NA\n", [{"a": "null", "b": "NA"}]),
        ("größe,b\n😀,ä\n".encode(), [{"größe": "😀", "b": "ä"}]),
        (b'"a b","c,""d"""\n1,2\n', [{"a b": 1, 'c,"d"': 2}]),
    ],
)
def test_records_are_rows(write, rows, content: bytes, found: list[object]) -> None:
    assert rows(READER, write(content)) == found
    assert rows(READER, write(gzip.compress(content))) == found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.text(alphabet='a,"\n\r é0', max_size=6), st.integers(-(2**63), 2**63 - 1)), max_size=8))
def test_what_was_written_quoted_comes_back(write, rows, values: list[tuple[str, int]]) -> None:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows([("text", "n"), *values])
    reader = CsvReader(types={"text": "string"})
    assert rows(reader, write(out.getvalue().encode())) == [{"text": text, "n": n} for text, n in values]


def test_the_whole_file_decides_on_types(write) -> None:
    lines = "".join(f"{number},{number},x{number}\n" for number in range(600_000))
    file = write(f"a,b,c\n{lines}x,1.5,y\n".encode())
    batches = list(READER.read(Piece(file)))
    assert len(batches) > 2
    assert {batch.schema for batch in batches} == {
        pa.schema([("a", pa.string()), ("b", pa.float64()), ("c", pa.string())])
    }


def test_types_may_be_given(write, rows) -> None:
    reader = CsvReader(types={"day": "date32", "zip": "string", "n": "float"}, infer=False)
    assert rows(reader, write(b"day,zip,n,other\n2020-01-02,1,2,3\n")) == [
        {"day": dt.date(2020, 1, 2), "zip": "1", "n": 2.0, "other": "3"}
    ]


def test_columns_are_chosen_and_ordered(write, rows) -> None:
    [row] = rows(CsvReader(columns=("c", "a")), write(b"a,b,c\n1,2,x\n"))
    assert list(row.items()) == [("c", "x"), ("a", 1)]
    with pytest.raises(ReadError, match=r"data: no column 'd'; the file has \['a', 'b', 'c'\]"):
        rows(CsvReader(columns=("d",)), write(b"a,b,c\n1,2,x\n"))
    with pytest.raises(ReadError, match=r"data: no column 'd'"):
        rows(CsvReader(types={"d": "int64"}), write(b"a,b,c\n1,2,x\n"))


def test_a_file_without_header_gets_names(write, rows) -> None:
    assert rows(CsvReader(header=False), write(b"1,x\n2,y\n")) == [{"f0": 1, "f1": "x"}, {"f0": 2, "f1": "y"}]
    assert rows(CsvReader(header=False, names=("n", "t")), write(b"1,x\n")) == [{"n": 1, "t": "x"}]


def test_tabs_and_other_delimiters(write, rows) -> None:
    assert rows(TsvReader(), write(b'a\tb\n1,5\t"x\ty"\n')) == [{"a": "1,5", "b": "x\ty"}]
    assert rows(TsvReader(quote=None), write(b'a\tb\n5" pipe\t"\n')) == [{"a": '5" pipe', "b": '"'}]
    assert rows(CsvReader(delimiter=";", quote="'"), write(b"a;b\n'x;''y';\"\n")) == [{"a": "x;'y", "b": '"'}]


def test_null_values_are_null_where_they_are_not_quoted(write, rows) -> None:
    reader = CsvReader(null_values=("NA", ""))
    assert rows(reader, write(b'a,b\n1,NA\nNA,"NA"\n')) == [{"a": 1, "b": None}, {"a": None, "b": "NA"}]


def test_a_file_without_rows_has_its_columns(write) -> None:
    [batch] = CsvReader(types={"a": "int32"}).read(Piece(write(b"a,b\n")))
    assert batch.schema == pa.schema([("a", pa.int32()), ("b", pa.null())])


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a,b\n1,2\n1,2,3\n", "line 3: 3 fields where 2 are expected: 1,2,3"),
        (b'a,b\n"1\n2",2\n1\n', "line 4: 1 fields where 2 are expected: 1$"),
        (b"a,b\n1,x\ny\rz,w\n", "line 3: "),
        (b"a,b\r1,2\r3,4\r", "line 1: a carriage return outside of quotes"),
        (b"a,b\n1,\xff\n", "line 2: not UTF-8 .* set encoding="),
        (b"\xe9,b\n1,2\n", "line 1: not UTF-8 .* set encoding="),
        (b'a,b\n1,5" pipe\n', "line 2: a quote where none can be"),
        (b'a,b\n1,"x\n', "line 2: a quoted field does not end"),
        (b"a,a\n1,2\n", "line 1: more than one column is named 'a'; set header=False"),
        (b"a,\n1,2\n", "line 1: a column has no name"),
    ],
)
def test_a_bad_record_is_named_with_its_line(write, rows, content: bytes, problem: str) -> None:
    with pytest.raises(ReadError, match=f"data: {problem}"):
        rows(READER, write(content))


def test_a_value_that_is_not_of_the_given_type_is_named_with_its_line(write, rows) -> None:
    content = b"n,t\n" + b"1,some text\n" * 500_000 + b"x,y\n" + b"2,z\n" * 5000
    with pytest.raises(ReadError, match=r"data: line 500002: .*int64: invalid value 'x'; set types= .*: x,y"):
        rows(CsvReader(types={"n": "int64", "t": "string"}), write(content))


@pytest.mark.parametrize("types", [{}, {"n": "int64", "t": "string"}])
def test_bad_records_are_set_aside_one_by_one(write, types: dict[str, str]) -> None:
    content = b"n,t\n1,a\n2\n\n3,b\xff\n4,c\n5,d,e\n" + b"6,x\n" * 1000 + b"7\r8\n"
    bad: list[BadRow] = []
    batches = list(CsvReader(types=types).read(Piece(write(content)), bad.append))
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert rows == [{"n": 1, "t": "a"}, {"n": 4, "t": "c"}, *[{"n": 6, "t": "x"}] * 1000]
    assert [(row.row, row.message.split(":")[0], row.raw) for row in bad] == [
        (1, "line 3", "2\n"),
        (2, "line 5", "3,b\\xff\n"),
        (4, "line 7", "5,d,e\n"),
        (1005, "line 1008", "7\r8\n"),
    ]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"delimiter": "||"}, "is not one ASCII character"),
        ({"types": {"a": "number"}}, "the type of 'a' is 'number', which Arrow does not know"),
        ({"encoding": "x"}, "'x' is no text encoding"),
        ({"names": ["a"]}, "set header=False"),
        ({"quote": ","}, "delimiter and quote are both ','"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        make_reader("csv", options)


def test_options_are_part_of_the_digest() -> None:
    assert CsvReader(types={"a": "int8"}).digest != CsvReader(types={"a": "int16"}).digest
    assert CsvReader(delimiter="\t").digest != TsvReader().digest
