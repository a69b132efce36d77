"""A byte range of a text file as blocks of whole lines.

A range [start, end) stands for the lines that *begin* in it, so ranges that cover a file give every line exactly once,
wherever the borders fall. Lines end at `\\n` bytes and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from raydata_ext.sources.compression import is_compressed, open_decompressed
from raydata_ext.sources.input_file import InputFile, Piece

BLOCK_BYTES = 8 << 20


def split_at_lines(file: InputFile, max_bytes: int) -> list[Piece]:
    """Cut a file into byte ranges of `max_bytes` each; a compressed file stays whole.

    The borders are multiples of `max_bytes`, so a file that is appended to keeps its earlier ranges.
    """
    if file.size <= max_bytes or is_compressed(file):
        return [Piece(file)]
    ranges = [(start, min(start + max_bytes, file.size)) for start in range(0, file.size, max_bytes)]
    return [Piece(file, start, end, end - start) for start, end in ranges]


def line_blocks(piece: Piece, block_bytes: int = BLOCK_BYTES) -> Iterator[tuple[int, bytes]]:
    """Read a piece as blocks that end at line ends.

    Args:
        piece: a byte range, or a whole file (which is decompressed where it is compressed).
        block_bytes: bytes of a block; a longer line makes a longer block.

    Yields:
        (byte offset in the decompressed file, block). Only the last block of a file may lack its `\\n`.
    """
    if piece.end is None:
        with open_decompressed(piece.file) as stream:
            yield from _cut_at_lines(stream, 0, None, block_bytes)
        return
    with piece.file.open() as stream:
        start = _line_start(stream, piece.start)
        yield from _cut_at_lines(stream, start, _line_start(stream, piece.end), block_bytes)


def _line_start(stream: IO[bytes], offset: int) -> int:
    """The first position at or after `offset` where a line begins, or the end of the file."""
    if offset == 0:
        return 0
    stream.seek(offset - 1)
    position = offset - 1
    while chunk := stream.read(1 << 16):
        found = chunk.find(b"\n")
        if found >= 0:
            return position + found + 1
        position += len(chunk)
    return position


def _cut_at_lines(stream: IO[bytes], start: int, end: int | None, block_bytes: int) -> Iterator[tuple[int, bytes]]:
    if end is not None:
        stream.seek(start)
    position, remaining = start, None if end is None else end - start
    rest: list[bytes] = []  # the begin of a line, in as many parts as it took so far
    while True:
        chunk = stream.read(block_bytes if remaining is None else min(block_bytes, remaining))
        if not chunk:
            break
        if remaining is not None:
            remaining -= len(chunk)
        cut = chunk.rfind(b"\n") + 1
        if cut:
            block = b"".join([*rest, memoryview(chunk)[:cut]])
            yield position, block
            position += len(block)
            rest = []
        if cut < len(chunk):
            rest.append(chunk[cut:])
    if rest:
        yield position, b"".join(rest)
