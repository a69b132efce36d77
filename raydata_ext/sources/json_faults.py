"""Which line of a block of JSON lines is at fault, and why; and what must not reach Arrow's parser at all.

Arrow parses fast and says little: a row number in the block, no line, no byte. And some input ends the process:
`null` as a whole row, and thousands of levels of nesting.
"""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING

import numpy as np

from raydata_ext.sources.utf8 import utf8_error

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LEVELS = 60
"""Objects and arrays in one another. Arrow's IPC files are read to 64 levels, of which a few are left for later
steps."""

_CRASH_LEVELS = 4000
"""Arrow's parser overflows an 8 MB stack somewhere above 10,000 levels."""

_BRACKET_OR_BRACE = ord("[") ^ ord("{")
"""The one bit in which brackets and braces differ."""

_SHOWN_CHARACTERS = 120
_ON_CUT_LINES = "; the line ends there, and a row must stand on one line, or be an element of an array"
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NULL_AT_BEGIN = re.compile(rb"\s*null")
_NULL_AFTER_OBJECT = re.compile(rb"\}\s*null")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_ROW = re.compile(r"(?:JSON parse error: )?(.*?) in row (\d+)$", re.DOTALL)


class JsonFault(Exception):  # noqa: N818 - it becomes a ReadError where the file is known
    """A line that cannot be a row.

    Args:
        block: the lines.
        start: where in the block the line begins.
        reason: what is wrong with it.

    Attributes:
        start: where in the block the line begins.
        reason: what is wrong with it.
        shown: the begin of the line.
    """

    def __init__(self, block: bytes, start: int, reason: str) -> None:
        super().__init__(reason)
        self.start = start
        self.reason = reason
        text = block[start : _line_end(block, start)][: 4 * _SHOWN_CHARACTERS].decode(errors="backslashreplace")
        self.shown = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "..."


def require_safe(block: bytes) -> None:
    """Let through only what Arrow's parser either parses rightly or refuses.

    Raises:
        JsonFault: a line is not UTF-8, or would crash the parser.
    """
    encoding_error = utf8_error(block)
    if encoding_error is not None:
        _require_row(block, block.rfind(b"\n", 0, encoding_error.start) + 1)
    for match in (_NULL_AT_BEGIN.match(block), *_NULL_AFTER_OBJECT.finditer(block)):
        if match is not None:
            _require_row(block, block.rfind(b"\n", 0, match.end()) + 1)
    numbers = np.frombuffer(block, np.uint8)
    for start, end in _long_lines(block, 2 * _CRASH_LEVELS):
        opening = (numbers[start:end] | _BRACKET_OR_BRACE) == ord("{")
        if np.count_nonzero(opening) > _CRASH_LEVELS:
            _require_row(block, start)


def find_fault(block: bytes) -> JsonFault | None:
    """The first line that by itself is no row, or None."""
    for start, end in lines_of(block):
        reason = fault_of_line(block[start:end])
        if reason is not None:
            return JsonFault(block, start, reason)
    return None


def fault_of_row(block: bytes, message: str) -> JsonFault:
    """What Arrow says of a row that does not go with those before it, where each line by itself is a row or blank."""
    match = _ROW.match(message)
    reason, row = (match[1], int(match[2])) if match else (message, 0)
    filled = (start for start, end in lines_of(block) if block[start:end].strip())
    start = next(itertools.islice(filled, row, None), 0)
    if reason.startswith("Column("):
        reason += "; all values of a key must be of one kind, and a key may occur once"
    return JsonFault(block, start, reason)


def _require_row(block: bytes, start: int) -> None:
    reason = fault_of_line(block[start : _line_end(block, start)])
    if reason is not None:
        raise JsonFault(block, start, reason)


def fault_of_line(line: bytes) -> str | None:
    """Why a line is no row, or None where it is one, or blank."""
    if not line.strip():
        return None
    encoding_error = utf8_error(line)
    if encoding_error is not None:
        return f"not UTF-8 ({encoding_error.reason} at byte {encoding_error.start} of the line)"
    if _num_levels(line) > MAX_LEVELS:
        return f"objects and arrays are nested more than {MAX_LEVELS} levels deep"
    if line.lstrip().startswith(b"["):
        return 'an array where one object a line is expected; set format="json" for a file of one array'
    return _explain_json(line.decode())


def _explain_json(line: str) -> str | None:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        is_cut = error.pos >= len(line.rstrip())
        return f"not JSON ({error.msg} at column {error.colno}){_ON_CUT_LINES if is_cut else ''}"
    except ValueError as error:  # an integer of more digits than Python converts
        return f"not JSON ({error})"
    return None if isinstance(value, dict) else "a JSON object is expected"


def _num_levels(line: bytes) -> int:
    """How deep objects and arrays are nested in a line."""
    brackets = np.frombuffer(_STRING.sub(b"", line).translate(None, _NO_BRACKETS), np.uint8)
    steps = np.where((brackets == ord("[")) | (brackets == ord("{")), 1, -1)
    return int(np.cumsum(steps).max(initial=0))


def lines_of(block: bytes) -> Iterator[tuple[int, int]]:
    """Where each line begins and ends, without its line end."""
    start = 0
    while start < len(block):
        end = _line_end(block, start)
        yield start, end
        start = end + 1


def _long_lines(block: bytes, width: int) -> Iterator[tuple[int, int]]:
    """The lines of `width` bytes and more, found by looking only near the ends of stretches of so many bytes."""
    start = 0
    while start + width <= len(block):
        end = block.rfind(b"\n", start, start + width)
        if end < 0:
            end = _line_end(block, start + width)
            yield start, end
        start = end + 1


def _line_end(block: bytes, start: int) -> int:
    end = block.find(b"\n", start)
    return len(block) if end < 0 else end
