r"""A byte range of a text file as blocks of whole lines.

A range [start, end) stands for the lines that *begin* in it, so ranges that cover a file give every line exactly once,
wherever the borders fall. Lines end at `\n` bytes and nowhere else.
"""

from __future__ import annotations

from contextlib import closing, suppress
from typing import IO, TYPE_CHECKING

import xxhash

from raydata_ext.errors import DamagedInputError, ReadError
from raydata_ext.sources.compression import DecompressedStream, is_compressed
from raydata_ext.sources.decoded_lines import read_decoded_lines
from raydata_ext.sources.input_file import CompressedRange, InputFile, Piece

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BLOCK_BYTES = 4 << 20


def split_at_lines(file: InputFile, max_bytes: int) -> list[Piece]:
    """Cut a file into byte ranges of `max_bytes` each; a compressed file stays whole.

    The borders are multiples of `max_bytes`, so a file that is appended to keeps its earlier ranges.
    """
    if file.size <= max_bytes or is_compressed(file):
        return [Piece(file)]
    ranges = [(start, min(start + max_bytes, file.size)) for start in range(0, file.size, max_bytes)]
    return [Piece(file, start, end, end - start) for start, end in ranges]


def line_blocks(piece: Piece, block_bytes: int = BLOCK_BYTES) -> Iterator[tuple[int, bytes]]:
    r"""Read a piece as blocks that end at line ends.

    Args:
        piece: a byte range, or a whole file (which is decompressed where it is compressed).
        block_bytes: bytes of a block; a longer line makes a longer block.

    Yields:
        (byte offset in the decompressed file, block). Only the last block of a file may lack its `\n`.

    Raises:
        ReadError: the file cannot be read to the end; the blocks before that come first.
    """
    if isinstance(piece, CompressedRange):
        yield from _compressed_range(piece, block_bytes)
    elif piece.end is None:
        with closing(DecompressedStream(piece.file)) as decompressed:
            yield from cut_at_lines(decompressed.read, 0, block_bytes)
    else:
        with piece.file.open() as stream:
            start, end = _line_start(stream, piece.start), _line_start(stream, piece.end)
            stream.seek(start)
            yield from cut_at_lines(_bounded(stream.read, piece, end - start), start, block_bytes)


def count_lines(piece: Piece, end: int) -> int:
    """How many line ends there are in the piece's file before the byte offset `end` (of the decompressed file)."""
    lines = 0
    for offset, block in line_blocks(Piece(piece.file)):
        if offset >= end:
            break
        lines += block.count(b"\n", 0, end - offset)
    return lines


def hash_lines(piece: Piece) -> str:
    """Hash of the bytes of the lines that begin in a byte range (xxh3-128, 32 hex digits)."""
    digest = new_lines_hash(piece.start)
    for _, block in line_blocks(piece):
        digest.update(block)
    return digest.hexdigest()


def new_lines_hash(start: int) -> xxhash.xxh3_128:
    """The hash that `hash_lines` gives, before any line went in, of lines from the byte offset `start` on."""
    # A byte order mark is one only where a file begins, so the same bytes further on are other rows.
    return xxhash.xxh3_128(b"" if start == 0 else b"not the begin of a file")


def cut_at_lines(read: Callable[[int], bytes], position: int, block_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Read to the end, in blocks that end at line ends; see `line_blocks`.

    Args:
        read: gives up to so many bytes, none at the end.
        position: offset of the first byte, where a line begins.
        block_bytes: bytes of a block; a longer line makes a longer block.
    """
    rest: list[bytes] = []  # the begin of a line, in as many parts as it took so far
    at_end = False
    while not at_end:
        chunk, at_end = _read_from_line(read, block_bytes, position)
        cut = len(chunk) if at_end else chunk.rfind(b"\n") + 1
        if cut:
            block = b"".join([*rest, memoryview(chunk)[:cut]])
            yield position, block
            position += len(block)
            rest = []
        if cut < len(chunk):
            rest.append(chunk[cut:])
    if rest:
        yield position, b"".join(rest)


def _read_from_line(read: Callable[[int], bytes], size: int, line: int) -> tuple[bytes, bool]:
    """Read on for `size` bytes, or fewer before the end or damage, and tell whether this is the end.

    Where nothing can be read, what is damaged is the line that begins at the byte offset `line`, and all that follows
    it.
    """
    parts: list[bytes] = []
    try:
        while size:
            part = read(size)
            if not part:
                return b"".join(parts), True
            parts.append(part)
            size -= len(part)
    except ReadError as error:
        if not parts:  # else the next call says so again
            if isinstance(error, DamagedInputError):
                error.byte_offset = line
            raise
    return b"".join(parts), False


def _compressed_range(piece: CompressedRange, block_bytes: int) -> Iterator[tuple[int, bytes]]:
    """The decompressed lines, where they are still kept; else the file has to be decompressed up to them again."""
    if piece.lines_path is not None:
        with suppress(FileNotFoundError):  # taken away by another run that had done with them
            yield from read_decoded_lines(piece.lines_path, piece.start)
            return
    with closing(DecompressedStream(piece.file)) as stream:
        position = 0
        while position < piece.start and (skipped := stream.read(min(block_bytes, piece.start - position))):
            position += len(skipped)
        read = stream.read if piece.end is None else _bounded(stream.read, piece, piece.end - piece.start)
        yield from cut_at_lines(read, piece.start, block_bytes)


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


def _bounded(inner: Callable[[int], bytes], piece: Piece, num_bytes: int) -> Callable[[int], bytes]:
    """Read on for exactly so many bytes."""
    missing = num_bytes

    def read(size: int) -> bytes:
        nonlocal missing
        try:
            chunk = inner(min(size, missing))
        except OSError as error:
            raise ReadError(f"{piece.label}: cannot be read ({error})") from error
        if missing and not chunk:
            raise ReadError(f"{piece.label}: the file is shorter than when it was listed; run again when it is whole")
        missing -= len(chunk)
        return chunk

    return read
