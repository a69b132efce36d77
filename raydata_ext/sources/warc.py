"""Web archives: WARC files, a row a response, and WET files, a row a text.

Source: ISO 28500 (WARC 1.0 and 1.1); WET is what Common Crawl makes of it.
"""

from __future__ import annotations

import zlib
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
from pydantic import field_validator, model_validator
from typing_extensions import override

from raydata_ext.errors import DamagedInputError
from raydata_ext.sources.compression import DecompressedStream
from raydata_ext.sources.json_good_lines import raw_text
from raydata_ext.sources.reader import BadRow, OnBadRow, Reader
from raydata_ext.sources.row_batches import RowBatches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from raydata_ext.sources.input_file import Piece

_HEADER = pa.list_(pa.struct([("name", pa.string()), ("value", pa.string())]))
_OF_BROKEN_RECORDS = (AttributeError, EOFError, LookupError, OSError, TypeError, ValueError)
"""What warcio raises besides its own."""

_RECORD_END = b"\r\n\r\n"


class WarcReader(Reader):
    """Reads WARC files, compressed as a whole or record by record.

    Attributes:
        record_types: types of the records that are rows.
    """

    format: ClassVar[str] = "warc"
    suffixes: ClassVar[tuple[str, ...]] = (".warc",)
    schema: ClassVar[pa.Schema] = pa.schema(
        [
            ("record_id", pa.string()),
            ("type", pa.string()),
            ("url", pa.string()),
            ("date", pa.string()),
            ("status", pa.int16()),
            ("content_type", pa.string()),
            ("http_headers", _HEADER),
            ("content", pa.binary()),
        ]
    )

    record_types: tuple[str, ...] = ("response",)

    @field_validator("record_types")
    @classmethod
    def _one_at_least(cls, types: tuple[str, ...]) -> tuple[str, ...]:
        if not types:
            raise ValueError('name one type at least, such as "response"')
        return types

    @model_validator(mode="after")
    def _fitting(self) -> WarcReader:
        unknown = set(self.columns or ()) - set(self.schema.names)
        if unknown:
            raise ValueError(
                f"{self.format} files have the columns {self.schema.names}, not {sorted(unknown)}; check columns="
            )
        return self

    @override
    def read(self, piece: Piece, on_bad_row: OnBadRow | None = None) -> Iterator[pa.RecordBatch]:
        schema = self.schema if self.columns is None else pa.schema([self.schema.field(name) for name in self.columns])
        batches = RowBatches(schema)
        rows = 0
        for record, place, byte in _records(piece):
            if record.rec_type not in self.record_types:
                record.raw_stream.read()
                continue
            try:
                content = record.content_stream().read()
                row = self._row(record, content)
            except (*_OF_BROKEN_RECORDS, zlib.error) as error:
                if on_bad_row is None:
                    raise DamagedInputError(f"{place}: its content cannot be decoded ({error})", byte) from error
                on_bad_row(BadRow(rows, byte, f"its content cannot be decoded ({error})", _shown(error)))
            else:
                yield from batches.add(row, len(content))
            rows += 1
        yield from batches.finish()

    def _row(self, record: Any, content: bytes) -> dict[str, Any]:
        """One record: its content is what HTTP carried, without transfer and content encoding."""
        http = record.http_headers
        return {
            **_common(record),
            "type": record.rec_type,
            "status": _status(http),
            "content_type": (http or record.rec_headers).get_header("Content-Type"),
            "http_headers": None if http is None else [{"name": name, "value": text} for name, text in http.headers],
            "content": content,
        }


class WetReader(WarcReader):
    """Reads WET files: plain text of web pages, in UTF-8."""

    format: ClassVar[str] = "wet"
    suffixes: ClassVar[tuple[str, ...]] = (".wet",)
    schema: ClassVar[pa.Schema] = pa.schema(
        [(name, pa.string()) for name in ("record_id", "url", "date", "language", "text")]
    )

    record_types: tuple[str, ...] = ("conversion",)

    @override
    def _row(self, record: Any, content: bytes) -> dict[str, Any]:
        language = record.rec_headers.get_header("WARC-Identified-Content-Language")
        return {**_common(record), "language": language, "text": content.decode()}


def _records(piece: Piece) -> Iterator[tuple[Any, str, int]]:
    """The records of a file, how messages name them, and where they begin.

    warcio passes over what it cannot make sense of, so each record and the end of the file are checked here.
    """
    archive, exceptions = _warcio()
    number = 0
    with closing(DecompressedStream(piece.file)) as stream:
        ending = _Ending(stream)
        iterator = archive.ArchiveIterator(ending)
        while True:
            byte = iterator.offset
            place = f"{piece.label}: record {number + 1} (from byte {byte})"
            try:
                record = next(iterator, None)
            except (exceptions.ArchiveLoadFailed, *_OF_BROKEN_RECORDS) as error:
                raise DamagedInputError(f"{place}: not a WARC record, or cut off ({error})", byte) from error
            if iterator.err_count:
                raise DamagedInputError(f"{place}: the record before it is longer than its Content-Length says", byte)
            if record is None:
                break
            if not hasattr(record.raw_stream, "limit"):
                raise DamagedInputError(f"{place}: it has no Content-Length, so it is no WARC record, or cut off", byte)
            yield record, place, byte
            missing = record.raw_stream.limit
            if missing:
                message = f"{place}: cut off, {missing} bytes are missing; make or copy the file again"
                raise DamagedInputError(message, byte)
            number += 1
        if ending.last.strip(b"\r\n"):
            raise DamagedInputError(f"{place}: cut off; make or copy the file again", byte)


@dataclass
class _Ending:
    """A stream that remembers the last bytes that were read."""

    stream: DecompressedStream
    last: bytes = b""

    def read(self, size: int) -> bytes:
        data = self.stream.read(size)
        self.last = (self.last + data[-len(_RECORD_END) :])[-len(_RECORD_END) :]
        return data


def _warcio() -> tuple[Any, Any]:
    try:
        from warcio import archiveiterator, exceptions  # noqa: PLC0415 - optional
    except ImportError as error:
        raise ImportError("WARC and WET files are read with warcio; run `pip install 'raydata_ext[web]'`") from error
    return archiveiterator, exceptions


def _shown(error: Exception) -> str:
    """The text that could not be decoded."""
    return raw_text(error.object) if isinstance(error, UnicodeDecodeError) else ""


def _common(record: Any) -> dict[str, Any]:
    headers = record.rec_headers
    return {
        "record_id": headers.get_header("WARC-Record-ID"),
        "url": headers.get_header("WARC-Target-URI"),
        "date": headers.get_header("WARC-Date"),
    }


def _status(http: Any) -> int | None:
    code = http.get_statuscode() if http is not None else ""
    return int(code) if code.isdecimal() else None
