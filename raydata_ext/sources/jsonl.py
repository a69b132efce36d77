"""JSON lines: a row a line, types inferred per block and unified later over the whole output."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from raydata_ext.errors import DamagedInputError
from raydata_ext.sources.json_block import JsonBlockParser
from raydata_ext.sources.json_faults import JsonFault
from raydata_ext.sources.json_good_lines import parse_good_lines
from raydata_ext.sources.line_blocks import count_lines, hash_lines, line_blocks, split_at_lines
from raydata_ext.sources.reader import UTF8_BOM, BadRow, OnBadRow, Reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from raydata_ext.sources.input_file import InputFile, Piece


class JsonLinesReader(Reader):
    """Reads files of one JSON object a line, in UTF-8; blank lines are skipped.

    Strings are strings (also those that look like dates), objects are structs, arrays are lists; a key that a line
    lacks is null, as is one of `columns` that no line has. Numbers are int64 where all are integers, uint64 where one
    needs it and none is negative, else double: integers beyond these and numbers beside a fraction are rounded as
    JSON's readers do. `NaN` and `Infinity` are numbers. All values of a key must be of one kind, and a key may occur
    once in an object.
    """

    format: ClassVar[str] = "jsonl"
    suffixes: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson")

    @property
    def rows_are_lines(self) -> bool:
        """Always."""
        return True

    def split(self, file: InputFile, max_bytes: int) -> list[Piece]:
        """Byte ranges at line ends."""
        return split_at_lines(file, max_bytes)

    def hash_piece(self, piece: Piece) -> str:
        """Hash of the lines that begin in the piece, or of the whole file."""
        return super().hash_piece(piece) if piece.end is None else hash_lines(piece)

    def read(self, piece: Piece, on_bad_row: OnBadRow | None = None) -> Iterator[pa.RecordBatch]:
        """One batch a block of about 4 MB; blocks may differ in schema."""
        parser = JsonBlockParser()
        rows = 0
        for offset, block in line_blocks(piece):
            mark = len(UTF8_BOM) if offset == 0 and block.startswith(UTF8_BOM) else 0
            if on_bad_row is None:
                batch = _parsed(parser, piece, offset + mark, block[mark:])
            else:
                batch, bad = parse_good_lines(parser, block[mark:])
                for line in bad:
                    on_bad_row(BadRow(rows + line.row, offset + mark + line.start, line.reason, line.raw))
                rows += batch.num_rows + len(bad)
            if batch.num_rows:
                yield self._project(batch)

    def read_rows(self, piece: Piece, rows: Sequence[int]) -> pa.RecordBatch:
        """Some rows of a piece; only they are parsed, and types are inferred of them alone.

        Args:
            piece: what to read.
            rows: their numbers in the piece, ascending; those that are not there are left out.
        """
        chosen: list[bytes] = []
        first = 0  # number of the first row of the block
        for offset, block in line_blocks(piece):
            mark = len(UTF8_BOM) if offset == 0 and block.startswith(UTF8_BOM) else 0
            lines = [line for line in block[mark:].split(b"\n") if line.strip()]
            stop = bisect_left(rows, first + len(lines))
            chosen += (lines[row - first] for row in rows[len(chosen) : stop])
            first += len(lines)
            if stop == len(rows):
                break
        return self._project(_parsed(JsonBlockParser(), piece, 0, b"\n".join(chosen)))

    def _project(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self.columns is None:
            return batch
        names = set(batch.schema.names)
        arrays = [batch.column(name) if name in names else pa.nulls(batch.num_rows) for name in self.columns]
        return pa.RecordBatch.from_arrays(arrays, list(self.columns))


def _parsed(parser: JsonBlockParser, piece: Piece, offset: int, block: bytes) -> pa.RecordBatch:
    try:
        return parser.parse(block)
    except JsonFault as fault:
        byte = offset + fault.start
        line = 1 + count_lines(piece, byte)
        raise DamagedInputError(
            f"{piece.label}: line {line} (from byte {byte}): {fault.reason}: {fault.shown}", byte
        ) from fault
