"""Plain text: a row a line, a row a paragraph, or a row a file."""

from __future__ import annotations

import codecs
import re
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import field_validator, model_validator

from raydata_ext.errors import DamagedInputError
from raydata_ext.sources.compression import DecompressedStream
from raydata_ext.sources.input_file import InputFile, Piece
from raydata_ext.sources.json_good_lines import raw_text
from raydata_ext.sources.line_blocks import hash_lines, line_blocks, split_at_lines
from raydata_ext.sources.reader import UTF8_BOM, BadRow, OnBadRow, Reader
from raydata_ext.sources.utf8 import utf8_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_MOST_BYTES = 2**31 - 1
_READ_BYTES = 16 << 20
_BLANK_LINES = re.compile(rb"(?m:^)(?:[ \t]*\n)+")


class TextReader(Reader):
    r"""Reads text files.

    A line ends at `\n`; one `\r` before it is taken off, one elsewhere is part of the line. A byte order mark at the
    begin of a file is taken off. A paragraph is a run of lines that are not blank; blank are those of nothing but
    spaces and tabs. Otherwise whole files are taken as they are.

    Attributes:
        unit: what makes a row, `"line"`, `"paragraph"` or `"file"`.
        column: name of the text column (string).
        path_column: name of a column (string) that holds the file's name relative to the source; None is no such
            column.
        encoding: any text encoding that Python knows; unless the unit is a file, one in which `\n` is the byte 0x0A.
        encoding_errors: `"strict"` makes bytes outside of the encoding an error, `"replace"` and `"ignore"` as in
            Python.
    """

    format: ClassVar[str] = "text"
    suffixes: ClassVar[tuple[str, ...]] = (".txt", ".text", ".md", ".py")

    unit: Literal["line", "paragraph", "file"] = "line"
    column: str = "text"
    path_column: str | None = None
    encoding: str = "utf-8"
    encoding_errors: Literal["strict", "replace", "ignore"] = "strict"

    @field_validator("encoding")
    @classmethod
    def _plain_name(cls, name: str) -> str:
        try:
            "\n".encode(name)
        except (LookupError, UnicodeError) as error:
            raise ValueError(f"{name!r} is no text encoding that Python knows") from error
        return "utf-8" if codecs.lookup(name).name in ("utf-8", "utf-8-sig") else codecs.lookup(name).name

    @model_validator(mode="after")
    def _fitting(self) -> TextReader:
        if self.unit != "file" and "\n".encode(self.encoding) != b"\n":
            raise ValueError(
                f"files in {self.encoding} cannot be cut at lines, for a line end is not the byte 0x0A there; set"
                ' unit="file", or convert them to UTF-8'
            )
        if self.column == self.path_column:
            raise ValueError(f"column and path_column are both {self.column!r}; give them different names")
        unknown = set(self.columns or ()) - {self.column, self.path_column}
        if unknown:
            raise ValueError(f"text files have the columns {self._names}, not {sorted(unknown)}; check columns=")
        return self

    @property
    def rows_hold_names(self) -> bool:
        """Whether there is a path column."""
        return self.path_column in self._names

    @property
    def _names(self) -> list[str]:
        return list(self.columns or filter(None, (self.column, self.path_column)))

    @property
    def rows_are_lines(self) -> bool:
        """Whether the unit is a line."""
        return self.unit == "line"

    def split(self, file: InputFile, max_bytes: int) -> list[Piece]:
        """Byte ranges at line ends where a row is a line."""
        return split_at_lines(file, max_bytes) if self.unit == "line" else [Piece(file)]

    def hash_piece(self, piece: Piece) -> str:
        """Hash of the lines that begin in the piece, or of the whole file."""
        return super().hash_piece(piece) if piece.end is None else hash_lines(piece)

    def read(self, piece: Piece, on_bad_row: OnBadRow | None = None) -> Iterator[pa.RecordBatch]:
        """Batches of one text column (string) and the path column where asked for.

        What cannot be decoded is a bad row where the unit is a line; else nothing comes after it.
        """
        empty = True
        units: Mapping[str, Callable[[Piece], Iterator[pa.Array]]]
        units = {"line": partial(self._lines, on_bad_row), "paragraph": self._paragraphs, "file": self._whole}
        for texts in units[self.unit](piece):
            yield self._batch(piece, texts)
            empty = False
        if empty:
            yield self._batch(piece, pa.array([], pa.string()))

    def _batch(self, piece: Piece, texts: pa.Array) -> pa.RecordBatch:
        columns = {self.column: texts}
        if self.path_column in self._names:
            columns[self.path_column] = pa.repeat(_printable(piece.file.name), len(texts))
        return pa.RecordBatch.from_arrays([columns[name] for name in self._names], self._names)

    def _whole(self, piece: Piece) -> Iterator[pa.Array]:
        with closing(DecompressedStream(piece.file)) as stream:
            content = b"".join(iter(partial(stream.read, _READ_BYTES), b""))  # to the end, or to damage
            data = self._decode(piece, 0, content)
        yield _strings(piece, np.array([0, len(data)]), data)

    def _lines(self, on_bad_row: OnBadRow | None, piece: Piece) -> Iterator[pa.Array]:
        for text in self._blocks(piece, on_bad_row):
            ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
            ends -= np.arange(len(ends))
            data = text.replace(b"\n", b"")
            last = [len(data)] if text and not text.endswith(b"\n") else []
            yield _strings(piece, np.concatenate([[0], ends, last]), data)

    def _paragraphs(self, piece: Piece) -> Iterator[pa.Array]:
        paragraph: list[bytes] = []  # the one that is not known to have ended, in as many parts as it took so far
        for text in self._blocks(piece):
            ended, start = [], 0
            for blank in _BLANK_LINES.finditer(text):
                paragraph.append(text[start : blank.start()])
                ended.append(b"".join(paragraph).removesuffix(b"\n"))
                paragraph, start = [], blank.end()
            paragraph.append(text[start:])
            yield _strings_of(piece, ended)
        text = b"".join(paragraph)
        before, _, last_line = text.rpartition(b"\n")
        yield _strings_of(piece, [text if last_line.strip(b" \t") else before])

    def _blocks(self, piece: Piece, on_bad_row: OnBadRow | None = None) -> Iterator[bytes]:
        r"""Whole lines in UTF-8 that end at `\n` alone."""
        lines = 0
        for offset, block in line_blocks(piece):
            if on_bad_row is None:
                text = self._decode(piece, offset, block)
            else:
                text = self._decode_lines(piece, offset, block, lines, on_bad_row)
                lines += block.count(b"\n") + (not block.endswith(b"\n"))
            yield text.replace(b"\r\n", b"\n") if b"\r" in text else text

    def _decode_lines(self, piece: Piece, offset: int, block: bytes, row: int, on_bad_row: OnBadRow) -> bytes:
        """The same as `_decode` of the lines that can be decoded."""
        try:
            return self._decode(piece, offset, block)
        except DamagedInputError:
            return self._decode_line_by_line(piece, offset, block, row, on_bad_row)

    def _decode_line_by_line(self, piece: Piece, offset: int, block: bytes, row: int, on_bad_row: OnBadRow) -> bytes:
        good: list[bytes] = []
        for number, line in enumerate(block.removesuffix(b"\n").split(b"\n"), row):
            try:
                good.append(self._decode(piece, offset, line) + b"\n")
            except DamagedInputError as error:
                on_bad_row(BadRow(number, offset, str(error.__cause__), raw_text(line)))
            offset += len(line) + 1
        return b"".join(good)

    def _decode(self, piece: Piece, offset: int, data: bytes) -> bytes:
        """UTF-8 of `data`, which is returned as it is where it is valid UTF-8 already."""
        mark = len(UTF8_BOM) if self.encoding == "utf-8" and offset == 0 and data.startswith(UTF8_BOM) else 0
        body = data[mark:]
        try:
            if self.encoding != "utf-8" or utf8_error(body) is not None:
                return body.decode(self.encoding, self.encoding_errors).encode()
        except UnicodeError as error:
            start = getattr(error, "start", 0) if isinstance(error, UnicodeDecodeError) else 0
            byte = offset + mark + start
            raise DamagedInputError(
                f"{piece.label}: byte {byte}: not {self.encoding} ({error}); set encoding= to what the file is in, or"
                ' encoding_errors="replace"',
                byte,
            ) from error
        return body


def _strings_of(piece: Piece, texts: list[bytes]) -> pa.Array:
    filled = [text for text in texts if text.strip(b" \t")]
    return _strings(piece, np.cumsum([0, *map(len, filled)]), b"".join(filled))


def _strings(piece: Piece, offsets: np.ndarray, data: bytes) -> pa.Array:
    if len(data) > _MOST_BYTES:
        raise DamagedInputError(
            f"{piece.label}: a text of {len(data)} bytes; a row holds {_MOST_BYTES} at most; cut it up before"
        )
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)


def _printable(name: str) -> str:
    r"""A file name as valid Unicode; bytes that are no UTF-8 are written as `\xff`."""
    return name.encode(errors="surrogateescape").decode(errors="backslashreplace")
