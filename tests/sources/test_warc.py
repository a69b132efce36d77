"""WARC and WET files."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma

import pyarrow as pa
import pytest

from raydata_ext.errors import ReadError
from raydata_ext.sources import Piece, make_reader
from raydata_ext.sources.warc import WarcReader, WetReader

pytest.importorskip("warcio")
from typing import TYPE_CHECKING

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

if TYPE_CHECKING:
    from raydata_ext.sources.reader import BadRow

HTML = "<p>größe</p>".encode()


def archive(count: int = 3, *, packed: bool = True, body: bytes = HTML) -> bytes:
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=packed)
    writer.write_record(writer.create_warcinfo_record("x.warc", {"software": "a test"}))
    for number in range(count):
        url = f"http://example.com/{number}"
        date = {"WARC-Date": "2024-01-02T03:04:05Z", "WARC-Record-ID": f"<urn:uuid:{number}>"}
        http = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        request = StatusAndHeaders("GET / HTTP/1.1", [("Host", "example.com")], is_http_request=True)
        writer.write_record(writer.create_warc_record(url, "request", http_headers=request, warc_headers_dict=date))
        payload = io.BytesIO(body)
        record = writer.create_warc_record(url, "response", payload, http_headers=http, warc_headers_dict=date)
        writer.write_record(record)
    return out.getvalue()


def wet(texts: list[bytes]) -> bytes:
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=True)
    for number, text in enumerate(texts):
        headers = {
            "WARC-Date": "2024-01-02T03:04:05Z",
            "WARC-Record-ID": f"<urn:uuid:{number}>",
            "WARC-Identified-Content-Language": "deu,eng",
        }
        url = f"http://example.com/{number}"
        record = writer.create_warc_record(
            url, "conversion", io.BytesIO(text), warc_content_type="text/plain", warc_headers_dict=headers
        )
        writer.write_record(record)
    return out.getvalue()


def by_arrow(content: bytes, codec: str) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("pack", ["records", "plain", "gzip", "bz2", "xz", "zstd", "lz4"])
def test_responses_are_rows_however_the_file_is_packed(write, rows, pack: str) -> None:
    content = archive(packed=pack == "records")
    plain = {"gzip": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    content = by_arrow(content, pack) if pack in ("zstd", "lz4") else plain.get(pack, bytes)(content)
    found = rows(WarcReader(), write(content))
    assert [row["url"] for row in found] == [f"http://example.com/{number}" for number in range(3)]
    assert found[1] == {
        "record_id": "<urn:uuid:1>",
        "type": "response",
        "url": "http://example.com/1",
        "date": "2024-01-02T03:04:05Z",
        "status": 200,
        "content_type": "text/html",
        "http_headers": [{"name": "Content-Type", "value": "text/html"}],
        "content": HTML,
    }


def test_other_types_and_columns_are_chosen(write, rows) -> None:
    reader = WarcReader(record_types=("warcinfo", "request"), columns=("type", "url"))
    found = rows(reader, write(archive(1)))
    assert found == [{"type": "warcinfo", "url": None}, {"type": "request", "url": "http://example.com/0"}]
    with pytest.raises(ValueError, match=r"warc files have the columns .* not \['text'\]"):
        make_reader("warc", {"columns": ["text"]})
    with pytest.raises(ValueError, match="name one type at least"):
        make_reader("warc", {"record_types": []})


def test_encoded_content_is_decoded(write, rows) -> None:
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=True)
    http = StatusAndHeaders("200 OK", [("Content-Encoding", "gzip")], protocol="HTTP/1.1")
    payload = io.BytesIO(gzip.compress(HTML))
    writer.write_record(writer.create_warc_record("http://a", "response", payload, http_headers=http))
    assert [row["content"] for row in rows(WarcReader(), write(out.getvalue()))] == [HTML]


def test_wet_records_are_texts(write, rows) -> None:
    found = rows(WetReader(), write(wet(["größe\n\n".encode(), b""])))
    assert found[0] == {
        "record_id": "<urn:uuid:0>",
        "url": "http://example.com/0",
        "date": "2024-01-02T03:04:05Z",
        "language": "deu,eng",
        "text": "größe\n\n",
    }
    assert [row["text"] for row in found] == ["größe\n\n", ""]


def test_text_that_is_not_utf8_is_named_with_its_record(write, rows) -> None:
    with pytest.raises(ReadError, match=r"data: record 2 \(from byte \d+\): its content cannot be decoded"):
        rows(WetReader(), write(wet([b"a", b"\xff"])))


def test_batches_are_bounded(write) -> None:
    sizes = [batch.num_rows for batch in WarcReader().read(Piece(write(archive(9, body=b"x" * (1 << 20)))))]
    assert sizes == [4, 4, 1]


def test_an_archive_without_rows_has_its_columns(write) -> None:
    for content in (b"", archive(0)):
        [batch] = WarcReader().read(Piece(write(content)))
        assert batch.num_rows == 0
        assert batch.schema == WarcReader.schema


@pytest.mark.parametrize("packed", [True, False])
def test_wherever_a_file_is_cut_off_it_is_an_error_or_ends_between_records(write, packed: bool) -> None:
    content = archive(2, packed=packed)
    ends = [len(archive(count, packed=packed)) for count in range(3)]
    for size in range(1, len(content), 7):
        file = write(content[:size])
        try:
            found = [row for batch in WarcReader().read(Piece(file)) for row in batch.to_pylist()]
        except ReadError as error:
            assert file.path in str(error)  # noqa: PT017 - it may be whole as well
        else:
            assert not (gzip.decompress(content[:size]) if packed else content[:size])[-4:].strip(b"\r\n")
            assert len(found) == sum(size >= end for end in ends[1:])


@pytest.mark.parametrize("content", [b"no archive at all\n", b"\0" * 100, b"WARC/1.0\r\nnonsense"])
def test_a_foreign_file_is_an_error_that_names_it(write, rows, content: bytes) -> None:
    with pytest.raises(ReadError, match="data: record 1 "):
        rows(WarcReader(), write(content))


def test_bad_records_are_set_aside_one_by_one(write) -> None:
    bad: list[BadRow] = []
    file = write(wet([b"a", b"\xff!", b"c"]))
    rows = [row["text"] for batch in WetReader().read(Piece(file), bad.append) for row in batch.to_pylist()]
    assert rows == ["a", "c"]
    assert [(row.row, row.raw) for row in bad] == [(1, "\\xff!")]
    assert "utf-8" in bad[0].message
