"""JSON lines: a row a line, types inferred per block and unified later over the whole output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import orjson
import pyarrow as pa
import pyarrow.json as pj

from raydata_ext.errors import ReadError
from raydata_ext.sources.input_file import InputFile, Piece
from raydata_ext.sources.line_blocks import line_blocks, split_at_lines
from raydata_ext.sources.reader import Reader
from raydata_ext.sources.text import hash_lines


class JsonLinesReader(Reader):
    """Reads files of one JSON object a line; blank lines are skipped.

    Numbers without a fraction are int64, others double, strings are strings (also those that look like dates), objects are
    structs, arrays are lists; a key that a line lacks is null.
    """

    format: ClassVar[str] = "jsonl"
    suffixes: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson", ".json")

    def split(self, file: InputFile, max_bytes: int) -> list[Piece]:
        """Byte ranges at line ends."""
        return split_at_lines(file, max_bytes)

    def hash_piece(self, piece: Piece) -> str:
        """Hash of the lines that begin in the piece, or of the whole file."""
        return super().hash_piece(piece) if piece.end is None else hash_lines(piece)

    def read(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        """One batch a block of about 8 MB; blocks may differ in schema."""
        for offset, block in line_blocks(piece):
            if not block.strip():
                continue
            table = _parse(piece, offset, block)
            yield self._project(table)

    def _project(self, table: pa.Table) -> pa.RecordBatch:
        if self.columns is not None:
            missing = [name for name in self.columns if name not in table.column_names]
            for name in missing:
                table = table.append_column(name, pa.nulls(table.num_rows))
            table = table.select(list(self.columns))
        return table.combine_chunks().to_batches()[0]


def _parse(piece: Piece, offset: int, block: bytes) -> pa.Table:
    options = pj.ReadOptions(use_threads=False, block_size=len(block) + 1)
    buffer = pa.py_buffer(block)
    try:
        table = pj.read_json(pa.BufferReader(buffer), options)
        plain = pa.schema([field.with_type(_without_dates(field.type)) for field in table.schema])
        if plain != table.schema:  # Arrow takes strings that look like dates for timestamps
            parse = pj.ParseOptions(explicit_schema=plain)
            table = pj.read_json(pa.BufferReader(buffer), options, parse)
    except pa.ArrowInvalid as error:
        raise ReadError(_locate(piece, offset, block, str(error))) from error
    return table


def _without_dates(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_without_dates(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_without_dates(kind.value_type)))
    return kind


def _locate(piece: Piece, offset: int, block: bytes, reason: str) -> str:
    """Say which line is at fault: the first that is no JSON object, else what Arrow says of types that do not agree."""
    first_line = 1 + sum(part.count(b"\n") for start, part in line_blocks(Piece(piece.file)) if start < offset)
    for number, line in enumerate(block.split(b"\n"), first_line):
        try:
            value = orjson.loads(line) if line.strip() else {}
        except orjson.JSONDecodeError as error:
            return f"{piece.label}: line {number} (byte {offset}): not JSON ({error}): {_shortened(line)}"
        if not isinstance(value, dict):
            return f"{piece.label}: line {number} (byte {offset}): a JSON object is expected: {_shortened(line)}"
        offset += len(line) + 1
    return f"{piece.label}: from line {first_line} on: {reason}; values of one key must have one type"


def _shortened(line: bytes, width: int = 120) -> str:
    text = line.decode("utf8", "backslashreplace")
    return text if len(text) <= width else text[:width] + "..."
