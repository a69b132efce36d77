"""The lines of a block of JSON lines that are rows, where others are not."""

from __future__ import annotations

import bisect
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from raydata_ext.sources.json_faults import JsonFault, fault_of_line, lines_of

if TYPE_CHECKING:
    import pyarrow as pa

    from raydata_ext.sources.json_block import JsonBlockParser

MOST_RAW_BYTES = 10_000


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no row.

    Attributes:
        row: its number among the lines of the block that are not blank.
        start: where in the block it begins.
        reason: what is wrong with it.
        raw: its text; long ones are cut.
    """

    row: int
    start: int
    reason: str
    raw: str


def parse_good_lines(parser: JsonBlockParser, block: bytes) -> tuple[pa.RecordBatch, list[BadLine]]:
    """Parse a block as if the lines that are no rows were not there.

    A line whose values do not go with those of the lines before it in the block is no row.

    Args:
        parser: of the piece.
        block: whole lines.

    Returns:
        The rows, and the lines that are none, in order.
    """
    try:
        return parser.parse(block), []
    except JsonFault:
        return _parse_line_by_line(parser, block)


def _parse_line_by_line(parser: JsonBlockParser, block: bytes) -> tuple[pa.RecordBatch, list[BadLine]]:
    lines = [(start, end) for start, end in lines_of(block) if block[start:end].strip()]
    reasons = {row: reason for row, line in enumerate(lines) if (reason := fault_of_line(block[slice(*line)]))}
    while True:
        rows = [row for row in range(len(lines)) if row not in reasons]
        good = [block[slice(*lines[row])] for row in rows]
        try:
            batch = parser.parse(b"".join(line + b"\n" for line in good))
        except JsonFault as fault:
            starts = list(itertools.accumulate((len(line) + 1 for line in good), initial=0))
            reasons[rows[bisect.bisect_right(starts, fault.start, hi=len(rows)) - 1]] = fault.reason
        else:
            return batch, [_bad_line(block, row, *lines[row], reasons[row]) for row in sorted(reasons)]


def raw_text(data: bytes) -> str:
    """Bytes that could not be read, as text; long ones are cut."""
    return data[:MOST_RAW_BYTES].decode(errors="backslashreplace")


def _bad_line(block: bytes, row: int, start: int, end: int, reason: str) -> BadLine:
    return BadLine(row, start, reason, raw_text(block[start : min(end, start + MOST_RAW_BYTES)]))
