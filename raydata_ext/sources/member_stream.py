"""bz2 and xz files of one or more streams, read strictly.

Not `lzma.LZMAFile`, which takes a damaged second stream for the end, nor Arrow's bz2, which fails at an empty one.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK_BYTES = 1 << 16


class Decompressor(Protocol):
    """What `bz2.BZ2Decompressor` and `lzma.LZMADecompressor` have in common."""

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes out before something goes in."""

    @property
    def unused_data(self) -> bytes:
        """What was put in beyond the end of the stream."""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """Put in, and take out at most `max_length` bytes."""


class MemberStream:
    """The decompressed bytes of all streams of a file.

    Args:
        raw: the compressed file.
        make: makes the decompressor of one stream.
        padding: what may stand between streams and at the end.
    """

    def __init__(self, raw: IO[bytes], make: Callable[[], Decompressor], padding: bytes = b"") -> None:
        self._raw = raw
        self._make = make
        self._padding = padding
        self._member = make()

    def read(self, size: int) -> bytes:
        """Read up to `size` bytes; none at the end.

        Raises:
            EOFError: the file ends within a stream.
            OSError: the data is damaged, or else `lzma.LZMAError`.
        """
        data = b""
        while not data:
            if self._member.eof:
                head = self._next_member()
                if not head:
                    break
            else:
                head = self._raw.read(_CHUNK_BYTES) if self._member.needs_input else b""
                if self._member.needs_input and not head:
                    raise EOFError("the file ends before the compressed stream does")
            data = self._member.decompress(head, size)
        return data

    def close(self) -> None:
        """Close the file."""
        self._raw.close()

    def _next_member(self) -> bytes:
        """Begin the next stream, if there is one, and give the first of its bytes."""
        head = self._member.unused_data.lstrip(self._padding)
        while not head and (chunk := self._raw.read(_CHUNK_BYTES)):
            head = chunk.lstrip(self._padding)
        if head:
            self._member = self._make()
        return head
