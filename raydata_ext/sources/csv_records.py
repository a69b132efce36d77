r"""A CSV file as blocks of whole records, each of which knows its line.

As in RFC 4180, a field that begins with a quote ends at the next quote that is not doubled, and may hold delimiters and
line ends; a quote anywhere else is a fault, since from there on nobody can tell where records end. Records end at `\n`
or `\r\n` outside of quotes; empty lines are no records.
"""

from __future__ import annotations

import codecs
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from raydata_ext.errors import DamagedInputError
from raydata_ext.sources.compression import DecompressedStream
from raydata_ext.sources.reader import UTF8_BOM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from raydata_ext.sources.input_file import InputFile

CHUNK_BYTES = 4 << 20
LONGEST_RECORD = 256 << 20
"""Bytes after which a quoted field that does not end counts as one whose last quote is missing."""

_SHOWN_CHARACTERS = 120
_LONGEST_MARK = 4
"""Bytes of the longest byte order mark."""


class CsvFault(Exception):  # noqa: N818 - it becomes a ReadError where the file is known
    """A record that cannot be a row.

    Args:
        line: number of its first line in the file, from 1.
        reason: what is wrong with it.
        record: its bytes.
    """

    def __init__(self, line: int, reason: str, record: bytes) -> None:
        super().__init__(reason)
        text = record[: 4 * _SHOWN_CHARACTERS].decode(errors="backslashreplace").rstrip("\r\n")
        shown = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "..."
        self.message = f"line {line}: {reason}: {shown}"
        self.record = record


@dataclass(frozen=True, eq=False, slots=True)
class RecordBlock:
    """Whole records, one after the other.

    Attributes:
        line: number of the first line of `data` in the file, from 1.
        data: UTF-8.
        starts: first byte of each record, int64 of shape (records,).
        ends: one past the last byte of each record, line end included, int64 of shape (records,).
    """

    line: int
    data: bytes
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts)

    def part(self, first: int, last: int) -> RecordBlock:
        """Records `first` to `last`, that one not included."""
        start, end = int(self.starts[first]), int(self.ends[last - 1])
        starts, ends = self.starts[first:last] - start, self.ends[first:last] - start
        return RecordBlock(self.line + self.data.count(b"\n", 0, start), self.data[start:end], starts, ends)

    def fault(self, reason: str) -> CsvFault:
        """What is wrong with the first record."""
        return CsvFault(self.line, reason, self.data)


@dataclass(frozen=True, slots=True)
class Dialect:
    """What separates and encloses fields, one ASCII character each; None is that nothing encloses them."""

    delimiter: str
    quote: str | None
    encoding: str


def record_blocks(file: InputFile, dialect: Dialect, chunk_bytes: int = CHUNK_BYTES) -> Iterator[RecordBlock]:
    """Read a file, which may be compressed, as blocks of records.

    Raises:
        CsvFault: a quote is where it cannot be; the records before that come first.
        ReadError: the file cannot be read or decoded.
    """
    waiting: list[bytes] = []
    num_bytes, enough, line = 0, 0, 1
    for chunk in _utf8_chunks(file, dialect.encoding, chunk_bytes):
        waiting.append(chunk)
        num_bytes += len(chunk)
        if num_bytes < enough:
            continue
        data = b"".join(waiting)
        ends, fault = _record_ends(data, dialect, at_end=False)
        cut = int(ends[-1]) if len(ends) else 0
        if cut:
            yield _block(line, data[:cut], ends)
            line += data.count(b"\n", 0, cut)
        rest = data[cut:]
        if fault is not None:
            raise CsvFault(line, fault, rest)
        if len(rest) > LONGEST_RECORD:
            raise CsvFault(line, f"no end of the record within {LONGEST_RECORD} bytes; {_ON_QUOTES}", rest)
        waiting, num_bytes = [rest], len(rest)
        # A long record is looked at again when there is twice as much of it, so the time stays in proportion to it.
        enough = 0 if cut else min(2 * num_bytes, LONGEST_RECORD + 1)
    rest = b"".join(waiting)
    if rest:
        ends, fault = _record_ends(rest, dialect, at_end=True)
        if fault is not None:
            raise CsvFault(line, fault, rest)
        yield _block(line, rest, ends)


_ON_QUOTES = (
    "a field with quotes in it must be enclosed in quotes, and those within doubled; set quote=None where quotes have"
    " no meaning"
)


def _block(line: int, data: bytes, ends: NDArray[np.int64]) -> RecordBlock:
    starts = np.concatenate([[0], ends[:-1]])
    lengths = ends - starts
    values = np.frombuffer(data, np.uint8)[starts]
    is_empty = ((lengths == 1) & (values == ord("\n"))) | ((lengths == len(b"\r\n")) & (values == ord("\r")))
    return RecordBlock(line, data, starts[~is_empty], ends[~is_empty])


def _record_ends(data: bytes, dialect: Dialect, *, at_end: bool) -> tuple[NDArray[np.int64], str | None]:
    """Where records end, up to the first quote that is at fault, and what is wrong there.

    Args:
        data: begins where a record begins.
        dialect: how fields are separated and enclosed.
        at_end: whether nothing follows, so that the last record may lack its line end.
    """
    values = np.frombuffer(data, np.uint8)
    line_ends = np.flatnonzero(values == ord("\n"))
    if dialect.quote is not None and dialect.quote.encode() in data:
        quotes = np.flatnonzero(values == ord(dialect.quote))
        fault = _first_misplaced(values, quotes, dialect, at_end=at_end)
        is_within = np.searchsorted(quotes, line_ends) % 2 == 1
        line_ends = line_ends[~is_within]
        if fault is not None:
            return line_ends[line_ends < fault] + 1, f"a quote where none can be; {_ON_QUOTES}"
        if at_end and len(quotes) % 2:
            return line_ends + 1, f"a quoted field does not end; {_ON_QUOTES}"
    if at_end and not (len(line_ends) and line_ends[-1] + 1 == len(data)):
        line_ends = np.append(line_ends, len(data) - 1)
    return line_ends + 1, None


def _first_misplaced(
    values: NDArray[np.uint8], quotes: NDArray[np.int64], dialect: Dialect, *, at_end: bool
) -> int | None:
    """Position of the first quote that neither begins nor ends a field nor is doubled within one."""
    if not at_end:
        quotes = quotes[quotes < len(values) - 1]  # what follows the last byte is not known yet
    allowed = np.zeros(256, np.bool_)
    allowed[[ord(dialect.delimiter), ord("\n"), ord(dialect.quote or "\n")]] = True
    last = len(values) - 1
    before = np.where(quotes > 0, values[quotes - 1], ord("\n"))
    after = np.where(quotes < last, values[np.minimum(quotes + 1, last)], ord("\n"))
    opens = np.arange(len(quotes)) % 2 == 0
    allowed_after = allowed.copy()
    allowed_after[ord("\r")] = True
    wrong = np.flatnonzero(np.where(opens, ~allowed[before], ~allowed_after[after]))
    return int(quotes[wrong[0]]) if len(wrong) else None


def _utf8_chunks(file: InputFile, encoding: str, chunk_bytes: int) -> Iterator[bytes]:
    """The decompressed file in UTF-8, without a byte order mark."""
    decoder: Any = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)()
    position, at_end = 0, False
    with closing(DecompressedStream(file)) as stream:
        while not at_end:
            raw = stream.read(chunk_bytes if position else max(chunk_bytes, _LONGEST_MARK))
            chunk, at_end = raw, not raw
            if decoder is not None:
                pending = len(decoder.getstate()[0])
                try:
                    chunk = decoder.decode(raw, at_end).encode()
                except UnicodeDecodeError as error:
                    raise DamagedInputError(
                        f"{file.path}: byte {position - pending + error.start}: not {encoding} ({error.reason}); set"
                        " encoding= to what the file is in"
                    ) from error
            if chunk:
                yield chunk if position else chunk.removeprefix(UTF8_BOM)
            position += len(raw)
