"""The lines of a compressed file, part after part, decompressed in one go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raydata_ext.errors import ReadError
from raydata_ext.sources.compression import DecompressedStream
from raydata_ext.sources.line_blocks import BLOCK_BYTES, cut_at_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from raydata_ext.sources.input_file import InputFile


class PartDecoder:
    """Cuts the decompressed bytes of a file where `split_at_lines` cuts those of one that is not compressed.

    A part holds the lines that begin between two multiples of `part_bytes`. So a file that is appended to keeps its
    earlier parts, and one that is decompressed has the same ones. Multiples between which no line begins make no part.

    Args:
        file: the file.
        part_bytes: decompressed bytes of a part.

    Attributes:
        position: offset in the decompressed bytes of what comes next; where the next part begins, but for the time
            that one is read.
    """

    def __init__(self, file: InputFile, part_bytes: int) -> None:
        self.file = file
        self.part_bytes = part_bytes
        self.position = 0
        self._stream = DecompressedStream(file)
        self._rest = b""  # decompressed, and not of an earlier part

    @property
    def file_position(self) -> int:
        """How many bytes of the file itself have been taken in so far."""
        return self._stream.file_position

    def skip_to(self, start: int) -> None:
        """Go on to where a later part begins, without keeping what comes before.

        Raises:
            ReadError: the file is damaged before that.
        """
        while self.position < start and (skipped := self._take(min(BLOCK_BYTES, start - self.position))):
            self.position += len(skipped)

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """The next part; it has to be read to its end.

        Yields:
            (byte offset in the decompressed file, block of whole lines), the same as `line_blocks` does.

        Raises:
            ReadError: the file is truncated or damaged.
        """
        border = (self.position // self.part_bytes + 1) * self.part_bytes
        return cut_at_lines(self._reader_up_to(border), self.position, BLOCK_BYTES)

    def is_at_end(self) -> bool:
        """Whether there is no further part; damage that comes next is left to that to report."""
        if not self._rest:
            try:
                self._rest = self._stream.read(1)
            except ReadError:
                return False
        return not self._rest

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def _reader_up_to(self, border: int) -> Callable[[int], bytes]:
        ended = False

        def read(size: int) -> bytes:
            nonlocal ended
            chunk = b"" if ended else self._take(size)
            # The last line of the part is the one that the byte before the border is in.
            end = chunk.find(b"\n", max(border - 1 - self.position, 0)) + 1
            if end:
                self._rest = chunk[end:] + self._rest
                chunk, ended = chunk[:end], True
            self.position += len(chunk)
            return chunk

        return read

    def _take(self, size: int) -> bytes:
        taken, self._rest = self._rest[:size], self._rest[size:]
        if len(taken) == size:
            return taken
        try:
            return taken + self._stream.read(size - len(taken))
        except ReadError:
            if not taken:
                raise
            return taken  # the stream says so again the next time
