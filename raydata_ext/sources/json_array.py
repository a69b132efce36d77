"""JSON files: one array of objects, a row an element; or JSON lines, which many files of that suffix are."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from raydata_ext.errors import DamagedInputError
from raydata_ext.sources.input_file import Piece
from raydata_ext.sources.json_array_blocks import ArrayBlock, array_blocks, holds_array
from raydata_ext.sources.json_block import JsonBlockParser
from raydata_ext.sources.json_faults import JsonFault
from raydata_ext.sources.json_good_lines import parse_good_lines
from raydata_ext.sources.jsonl import JsonLinesReader
from raydata_ext.sources.reader import BadRow, OnBadRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from raydata_ext.sources.input_file import InputFile


class JsonReader(JsonLinesReader):
    """Reads files of one array of objects, in UTF-8; a file that does not begin with `[` is read as JSON lines.

    Types are those of JSON lines. An array is read in blocks, and is not split.
    """

    format: ClassVar[str] = "json"
    suffixes: ClassVar[tuple[str, ...]] = (".json",)

    @property
    @override
    def rows_are_lines(self) -> bool:
        return False  # or so it may be: it shows when the file is read

    @override
    def split(self, file: InputFile, max_bytes: int) -> list[Piece]:
        if file.size > max_bytes and holds_array(file):
            return [Piece(file)]
        return super().split(file, max_bytes)

    @override
    def read(self, piece: Piece, on_bad_row: OnBadRow | None = None) -> Iterator[pa.RecordBatch]:
        if piece.end is not None or not holds_array(piece.file):
            yield from super().read(piece, on_bad_row)
            return
        parser = JsonBlockParser()
        for block in array_blocks(piece.file):
            if on_bad_row is None or block.has_gaps():
                batch = _parsed(parser, piece, block)
            else:
                batch, bad = parse_good_lines(parser, block.lines)
                for line in bad:
                    on_bad_row(BadRow(block.first - 1 + line.row, block.offset + line.start, line.reason, line.raw))
            yield self._project(batch)


def _parsed(parser: JsonBlockParser, piece: Piece, block: ArrayBlock) -> pa.RecordBatch:
    try:
        block.require_objects()
        return parser.parse(block.lines)
    except JsonFault as fault:
        number, byte = block.number_of(fault.start), block.offset + fault.start
        raise DamagedInputError(
            f"{piece.label}: element {number} (from byte {byte}): {fault.reason}: {fault.shown}", byte
        ) from fault
