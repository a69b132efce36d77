"""Opening a file through its compression, told by the first bytes and not by the name."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from typing import IO, Any, cast

import pyarrow as pa

from raydata_ext.sources.input_file import InputFile

SUFFIXES = frozenset({".gz", ".bz2", ".xz", ".zst", ".zstd", ".lz4"})


def _arrow_codec(codec: str) -> Callable[[IO[bytes]], IO[bytes]]:
    return lambda raw: cast("IO[bytes]", pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), codec))


_OPENERS: tuple[tuple[bytes, Callable[[Any], IO[bytes]]], ...] = (
    (b"\x1f\x8b", _arrow_codec("gzip")),
    (b"BZh", _arrow_codec("bz2")),
    (b"\x28\xb5\x2f\xfd", _arrow_codec("zstd")),
    (b"\x04\x22\x4d\x18", _arrow_codec("lz4")),
    (b"\xfd7zXZ\x00", lambda raw: cast("IO[bytes]", lzma.open(raw))),
)


def is_compressed(file: InputFile) -> bool:
    """Whether the file begins as one of the known compressions does."""
    with file.open() as raw:
        return _opener(raw.read(6)) is not None


def open_decompressed(file: InputFile) -> IO[bytes]:
    """Open a file for reading its decompressed bytes; a file that is not compressed is opened as it is."""
    raw = file.open()
    opener = _opener(raw.read(6))
    raw.seek(0)
    return raw if opener is None else opener(raw)


def _opener(head: bytes) -> Callable[[IO[bytes]], IO[bytes]] | None:
    return next((opener for magic, opener in _OPENERS if head.startswith(magic)), None)
