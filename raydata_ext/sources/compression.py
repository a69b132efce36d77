"""Opening a file through its compression, told by the first bytes and not by the name."""

from __future__ import annotations

import bz2
import lzma
import sys
from typing import IO, TYPE_CHECKING, Protocol, cast

import pyarrow as pa

from raydata_ext.errors import DamagedInputError, ReadError
from raydata_ext.sources.member_stream import MemberStream

if TYPE_CHECKING:
    from collections.abc import Callable

    from raydata_ext.sources.input_file import InputFile

SUFFIXES = frozenset({".gz", ".bz2", ".xz", ".zst", ".zstd", ".lz4"})

EXPANSION = 4
"""How many bytes of text a compressed byte stands for where nothing better is known; compressed text has 3 to 5."""

_STEP_BYTES = 1 << 16
_LONGEST_MAGIC = 6
_SKIPPABLE_FRAMES = frozenset(bytes([low, 0x2A, 0x4D, 0x18]) for low in range(0x50, 0x60))


class _Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...

    def close(self) -> None: ...


def _arrow_codec(codec: str) -> Callable[[IO[bytes]], _Stream]:
    return lambda raw: cast("_Stream", pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), codec))


_OPENERS: tuple[tuple[bytes, Callable[[IO[bytes]], _Stream]], ...] = (
    (b"\x1f\x8b", _arrow_codec("gzip")),
    (b"BZh", lambda raw: MemberStream(raw, bz2.BZ2Decompressor)),
    (b"\x28\xb5\x2f\xfd", _arrow_codec("zstd")),
    (b"\x04\x22\x4d\x18", _arrow_codec("lz4")),
    (b"\xfd7zXZ\x00", lambda raw: MemberStream(raw, lzma.LZMADecompressor, padding=b"\0")),
)


def is_compressed(file: InputFile) -> bool:
    """Whether the file begins as one of the known compressions does."""
    with file.open() as raw:
        return _opener(raw) is not None


def has_compressed_name(file: InputFile) -> bool:
    """Whether the name ends as those of compressed files do; the file is not opened for it."""
    return file.name.lower().endswith(tuple(SUFFIXES))


class DecompressedStream:
    """The decompressed bytes of a file, or its bytes as they are where it is not compressed; to be closed after use.

    Args:
        file: the file.
    """

    def __init__(self, file: InputFile) -> None:
        self._file = file
        self._raw = file.open()
        opener = _opener(self._raw)
        self._raw.seek(0)
        self._stream: _Stream = self._raw if opener is None else opener(self._raw)
        self._is_compressed = opener is not None
        self._position = 0
        self._error: Exception | None = None

    def read(self, size: int = -1) -> bytes:
        """Read up to `size` bytes, or all; fewer at the end, or before damage, which the next call reports.

        Raises:
            DamagedInputError: the file is truncated or damaged; the message gives the position.
            ReadError: the file system fails.
        """
        data = self._read_steps(size) if self._is_compressed else self._read_step(size)
        if self._error is not None and not data:
            kind = ReadError if is_system_failure(self._error) else DamagedInputError
            raise kind(self._explain(self._error)) from self._error
        self._position += len(data)
        return data

    def _read_steps(self, size: int) -> bytes:
        """In small steps, for what was decompressed in a step that fails is lost."""
        parts: list[bytes] = []
        missing = sys.maxsize if size < 0 else size
        while missing and self._error is None:
            part = self._read_step(min(missing, _STEP_BYTES))
            if not part:
                break
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def _read_step(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except (OSError, EOFError, lzma.LZMAError, pa.ArrowException) as error:
            self._error = error
            return b""

    @property
    def file_position(self) -> int:
        """How many bytes of the file itself have been taken in so far."""
        return self._raw.tell()

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        self._raw.close()

    def _explain(self, error: Exception) -> str:
        where = f"{self._file.path}: byte {self._position}"
        if not self._is_compressed:
            return f"{where}: cannot be read ({error})"
        return (
            f"{where} of the decompressed data (of {self._file.size} compressed bytes): truncated or damaged ({error});"
            " make or copy the file again"
        )


def is_system_failure(error: Exception) -> bool:
    """Whether the system failed to read, rather than the content being wrong."""
    return isinstance(error, OSError) and error.errno is not None


def _opener(raw: IO[bytes]) -> Callable[[IO[bytes]], _Stream] | None:
    """How to open what begins here; zstd and lz4 files may begin with frames of metadata (`pzstd` writes these)."""
    head = raw.read(_LONGEST_MAGIC)
    while head[:4] in _SKIPPABLE_FRAMES:
        head += raw.read(2)
        raw.seek(int.from_bytes(head[4:8], "little"), 1)
        head = raw.read(_LONGEST_MAGIC)
    return next((opener for magic, opener in _OPENERS if head.startswith(magic)), None)
