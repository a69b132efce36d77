"""A JSON file of one array as blocks of JSON lines: what separates its elements becomes the end of a line, in place.

So every byte of a block is at its own place in the file, and a block is parsed as one of JSON lines is.
"""

from __future__ import annotations

import itertools
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from raydata_ext.errors import ReadError
from raydata_ext.sources.compression import DecompressedStream
from raydata_ext.sources.json_faults import JsonFault
from raydata_ext.sources.reader import UTF8_BOM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from raydata_ext.sources.input_file import InputFile

CHUNK_BYTES = 4 << 20
_WHITESPACE = b" \t\r\n"
_HEAD_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class ArrayBlock:
    """Some elements of an array, one a line.

    Attributes:
        offset: where it begins in the decompressed file.
        first: number of its first element, from 0.
        lines: the elements, with line feeds between them and nowhere else but within strings, which is no JSON.
    """

    offset: int
    first: int
    lines: bytes

    def require_objects(self) -> None:
        """Check that there is an object on each line, which is the first thing that JSON lines are not checked for.

        Raises:
            JsonFault: there is something else, or nothing.
        """
        start = 0
        for line in self.lines.split(b"\n"):
            begin = line.lstrip(_WHITESPACE)[:1]
            if begin != b"{":
                reason = "a JSON object is expected" if begin else "there is no element between two commas"
                raise JsonFault(self.lines, start, reason)
            start += len(line) + 1

    def number_of(self, position: int) -> int:
        """Number of the element (from 1) that holds a position of the block."""
        return 1 + self.first + self.lines.count(b"\n", 0, position)


def holds_array(file: InputFile) -> bool:
    """Whether the first thing in a file is the begin of an array."""
    with closing(DecompressedStream(file)) as stream:
        head = stream.read(_HEAD_BYTES)
    return head.removeprefix(UTF8_BOM).lstrip(_WHITESPACE).startswith(b"[")


def array_blocks(file: InputFile, chunk_bytes: int = CHUNK_BYTES) -> Iterator[ArrayBlock]:
    """Read a file of one array.

    Args:
        file: may be compressed.
        chunk_bytes: bytes of a block; a larger element makes a larger block.

    Raises:
        ReadError: the array does not end, or does not end the file; the blocks before that come first.
    """
    elements, scanner, first = _Elements(), _Scanner(), 0
    position = 0
    with closing(DecompressedStream(file)) as stream:
        for chunk in iter(lambda: stream.read(chunk_bytes), b""):
            lines, cuts, end = scanner.scan(chunk)
            begin = _after_bracket(chunk, lines) if position == 0 else 0
            last = cuts[-1] + 1 if len(cuts) else begin
            if end is not None:
                last = end
                _require_nothing_more(file, stream, position + end + 1, chunk[end + 1 :])
            if last > begin or end is not None:
                block = elements.take(lines[begin:last])
                block = block.removesuffix(b"\n") if end is None else block
                if end is None or first or block.strip(_WHITESPACE):
                    yield ArrayBlock(position + last - len(block) - (end is None), first, block)
                first += len(cuts)
            if end is not None:
                return
            elements.add(lines[last:])
            position += len(chunk)
    raise ReadError(f"{file.path}: byte {position}: the array does not end; the file is cut off: make it again")


