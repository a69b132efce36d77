"""A JSON file of one array as blocks of JSON lines: what separates its elements becomes the end of a line, in place.

So every byte of a block is at its own place in the file, and a block is parsed as one of JSON lines is.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from raydata_ext.errors import DamagedInputError
from raydata_ext.sources.compression import DecompressedStream
from raydata_ext.sources.json_faults import JsonFault
from raydata_ext.sources.reader import UTF8_BOM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from raydata_ext.sources.input_file import InputFile

CHUNK_BYTES = 4 << 20

_WHITESPACE = b" \t\r\n"
_HEAD_BYTES = 1 << 16
_CONTROL = 1
"""Stands for a line end within a string: no more allowed there than that, and no line end."""

_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"[{")] = 1
_STEPS[list(b"]}")] = -1
_IS_MARK = _STEPS != 0
_IS_MARK[ord(",")] = True


@dataclass(frozen=True, slots=True)
class ArrayBlock:
    """Some elements of an array, one a line.

    Attributes:
        offset: where the block begins in the decompressed file.
        first: number of its first element, from 1.
        lines: the elements; line feeds are between them and nowhere else.
    """

    offset: int
    first: int
    lines: bytes

    def require_objects(self) -> None:
        """Check that each line holds an object, as far as its first byte tells.

        Raises:
            JsonFault: one does not.
        """
        start = 0
        for line in self.lines.split(b"\n"):
            begin = line.lstrip(_WHITESPACE)[:1]
            if begin != b"{":
                reason = "a JSON object is expected" if begin else "there is a comma, and no element before or after it"
                raise JsonFault(self.lines, start, reason)
            start += len(line) + 1

    def has_gaps(self) -> bool:
        """Whether there are commas with no element between them."""
        return any(not line.strip(_WHITESPACE) for line in self.lines.split(b"\n"))

    def number_of(self, position: int) -> int:
        """Number (from 1) of the element at a position of the block."""
        return self.first + self.lines.count(b"\n", 0, position)


def holds_array(file: InputFile) -> bool:
    """Whether the first thing in a file is the begin of an array."""
    with closing(DecompressedStream(file)) as stream:
        return stream.read(_HEAD_BYTES).removeprefix(UTF8_BOM).lstrip(_WHITESPACE).startswith(b"[")


def array_blocks(file: InputFile, chunk_bytes: int = CHUNK_BYTES) -> Iterator[ArrayBlock]:
    """Read a file that holds an array.

    Args:
        file: may be compressed.
        chunk_bytes: bytes of a block; a larger element makes a larger block.

    Raises:
        ReadError: the array does not end, or something follows it; the blocks before that come first.
    """
    scanner = _Scanner()
    parts: list[bytes] = []  # of the block in the making
    position, offset, first = 0, 0, 1
    with closing(DecompressedStream(file)) as stream:
        while chunk := stream.read(chunk_bytes):
            lines, num_cuts, cut = scanner.scan(chunk)
            if cut is None:
                parts.append(lines)
            else:
                block = ArrayBlock(offset, first, b"".join([*parts, lines[:cut]]))
                if block.lines.strip(_WHITESPACE) or first > 1 or not scanner.ended:  # else the array is empty
                    yield block
                parts = [lines[cut + 1 :]]
                offset, first = position + cut + 1, first + num_cuts
            if scanner.ended:
                _require_blank(file, offset, parts[0], stream)
                return
            position += len(chunk)
    raise DamagedInputError(
        f"{file.path}: byte {position}: the array does not end; the file is cut off: make or copy it again", offset
    )


@dataclass
class _Scanner:
    """Tells what separates elements from commas elsewhere, a chunk at a time.

    Attributes:
        depth: how many brackets and braces are open.
        in_string: whether the next byte is one of a string.
        escaped: whether the next byte follows a backslash.
    """

    depth: int = 0
    in_string: bool = False
    escaped: bool = False
    ended: bool = field(default=False, init=False)

    def scan(self, chunk: bytes) -> tuple[bytes, int, int | None]:
        """Go on.

        Returns:
            The chunk as lines; how many commas between elements became line feeds; and where the last of these is, or
            the end of the array; None where there is neither.
        """
        values = np.frombuffer(self._without_escapes(chunk), np.uint8)
        inside = np.logical_xor.accumulate(values == ord('"')) ^ self.in_string
        self.in_string = bool(inside[-1])
        lines = np.frombuffer(chunk, np.uint8).copy()
        line_ends = (values == ord("\n")) | (values == ord("\r"))
        lines[line_ends & ~inside] = ord(" ")
        lines[line_ends & inside] = _CONTROL
        marks = np.flatnonzero(_IS_MARK[values] & ~inside)
        depths = self.depth + np.cumsum(_STEPS[values[marks]], dtype=np.int64)
        if self.depth == 0:
            lines[: marks[0] + 1 if len(marks) else None] = ord(" ")  # a byte order mark, and the opening bracket
        if len(marks):
            self.depth = int(depths[-1])
        ends = np.flatnonzero(depths <= 0)
        if len(ends):
            marks, depths = marks[: ends[0] + 1], depths[: ends[0] + 1]
            self.ended = True
        cuts = marks[(values[marks] == ord(",")) & (depths == 1)]
        lines[cuts] = ord("\n")
        last = marks[-1] if self.ended else cuts[-1] if len(cuts) else None
        return lines.tobytes(), len(cuts), None if last is None else int(last)

    def _without_escapes(self, chunk: bytes) -> bytes:
        r"""The chunk, as long as it was, without `\\` and `\"`, so that a quote is one that begins or ends a string."""
        before = b"\\" if self.escaped else b""
        text = (before + chunk).replace(b"\\\\", b"__").replace(b'\\"', b"__")
        self.escaped = text.endswith(b"\\")
        return text[len(before) :]


def _require_blank(file: InputFile, offset: int, rest: bytes, stream: DecompressedStream) -> None:
    while True:
        if rest.strip(_WHITESPACE):
            message = f"{file.path}: after byte {offset}, where the array ends: there is something more"
            raise DamagedInputError(f"{message}; a file holds one array", offset)
        rest = stream.read(_HEAD_BYTES)
        if not rest:
            return
