"""Plain text: a row a line, or a row a file."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import ClassVar, Literal

import pyarrow as pa
import pyarrow.compute as pc
import xxhash
from pydantic import field_validator

from raydata_ext.errors import ReadError
from raydata_ext.sources.compression import open_decompressed
from raydata_ext.sources.input_file import InputFile, Piece
from raydata_ext.sources.line_blocks import line_blocks, split_at_lines
from raydata_ext.sources.reader import Reader

_UTF8_BOM = b"\xef\xbb\xbf"


class TextReader(Reader):
    r"""Reads text files.

    A line ends at `\n`; a `\r` before it is taken off, one elsewhere is part of the line. A byte order mark at the
    begin of a file is taken off. Whole files are taken as they are.

    Attributes:
        unit: what makes a row, `"line"` or `"file"`.
        column: name of the text column (string).
        path_column: name of a column (string) that holds the file's name relative to the source; None is no such column.
        encoding: any encoding that Python knows and in which `\n` is the byte 0x0A; any at all where the unit is a file.
        encoding_errors: `"strict"` makes bytes outside of the encoding an error, `"replace"` and `"ignore"` as in Python.
    """

    format: ClassVar[str] = "text"
    suffixes: ClassVar[tuple[str, ...]] = (".txt", ".text", ".md", ".py")

    unit: Literal["line", "file"] = "line"
    column: str = "text"
    path_column: str | None = None
    encoding: str = "utf-8"
    encoding_errors: Literal["strict", "replace", "ignore"] = "strict"

    @field_validator("encoding")
    @classmethod
    def _known_encoding(cls, name: str) -> str:
        try:
            return codecs.lookup(name).name
        except LookupError as error:
            raise ValueError(f"unknown encoding {name!r}") from error

    @property
    def rows_hold_names(self) -> bool:
        """Whether there is a path column."""
        return self.path_column is not None

    def split(self, file: InputFile, max_bytes: int) -> list[Piece]:
        """Byte ranges at line ends where a row is a line."""
        return split_at_lines(file, max_bytes) if self.unit == "line" else [Piece(file)]

    def hash_piece(self, piece: Piece) -> str:
        """Hash of the lines that begin in the piece, or of the whole file."""
        return super().hash_piece(piece) if piece.end is None else hash_lines(piece)

    def read(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        """Batches of one text column (string) and the path column where asked for."""
        texts = self._lines(piece) if self.unit == "line" else self._whole(piece)
        for array in texts:
            columns = {self.column: array}
            if self.path_column is not None:
                columns[self.path_column] = pa.array([piece.file.name], pa.string()).take(pa.array([0] * len(array)))
            wanted = self.columns or tuple(columns)
            yield pa.RecordBatch.from_arrays([self._column(columns, name) for name in wanted], list(wanted))

    def _column(self, columns: dict[str, pa.Array], name: str) -> pa.Array:
        if name not in columns:
            raise ReadError(f"text files have the columns {list(columns)}, not {name!r}; check columns=")
        return columns[name]

    def _whole(self, piece: Piece) -> Iterator[pa.Array]:
        with open_decompressed(piece.file) as stream:
            data = stream.read()
        text = self._decode(piece, 0, data.removeprefix(_UTF8_BOM) if self.encoding == "utf-8" else data)
        yield pa.array([text], pa.binary()).cast(pa.string())

    def _lines(self, piece: Piece) -> Iterator[pa.Array]:
        for offset, block in line_blocks(piece):
            body = block.removeprefix(_UTF8_BOM) if offset == 0 and self.encoding == "utf-8" else block
            text = self._decode(piece, offset, body).removesuffix(b"\n")
            lines = pc.split_pattern(pa.array([text], pa.large_binary()).cast(pa.large_string()), "\n").values
            if b"\r" in text:
                lines = pc.replace_substring_regex(lines, r"\r\z", "")
            yield lines.cast(pa.string())

    def _decode(self, piece: Piece, offset: int, data: bytes) -> bytes:
        """UTF-8 of `data`, which is returned as it is where it is valid UTF-8 already."""
        try:
            if self.encoding != "utf-8" or not _is_utf8(data):
                return data.decode(self.encoding, self.encoding_errors).encode("utf8")
        except UnicodeDecodeError as error:
            raise ReadError(
                f"{piece.label}: byte {offset + error.start}: not {self.encoding} ({error.reason}); set encoding= to what"
                ' the file is in, or encoding_errors="replace"'
            ) from error
        return data


def hash_lines(piece: Piece) -> str:
    """Hash of the bytes of the lines that begin in a byte range (xxh3-128, 32 hex digits)."""
    digest = xxhash.xxh3_128()
    for _, block in line_blocks(piece):
        digest.update(block)
    return digest.hexdigest()


def _is_utf8(data: bytes) -> bool:
    try:
        pa.array([data], pa.large_binary()).cast(pa.large_string())
    except pa.ArrowInvalid:
        return False
    return True
