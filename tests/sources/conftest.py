"""What the tests of sources share: files on disk as the readers take them, and files on the `memory://` file system."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
from typing import TYPE_CHECKING

import fsspec
import pyarrow as pa
import pytest

from raydata_ext.sources import InputFile, Piece

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_COMPRESS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
    "zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
    "lz4": lambda data: pa.compress(data, codec="lz4", asbytes=True),
}


def input_file(path: Path, name: str | None = None) -> InputFile:
    stat = path.stat()
    return InputFile(str(path), name or path.name, stat.st_size, f"{stat.st_mtime_ns}:{stat.st_ino}")


@pytest.fixture
def write(tmp_path: Path):
    """Write bytes to a file of the test's directory and give it as an input file."""

    def write(content: bytes, name: str = "data") -> InputFile:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return input_file(path)

    return write


@pytest.fixture(params=_COMPRESS)
def codec(request: pytest.FixtureRequest) -> str:
    """The suffix of each compression in turn."""
    return request.param


@pytest.fixture
def compress(codec: str) -> Callable[[bytes], bytes]:
    """Compresses bytes: a member or frame."""
    return _COMPRESS[codec]


@pytest.fixture
def rows():
    """All rows that a reader reads of files or pieces, as dicts."""

    def rows(reader, *parts: InputFile | Piece) -> list[dict[str, object]]:
        pieces = [part if isinstance(part, Piece) else Piece(part) for part in parts]
        return [row for piece in pieces for batch in reader.read(piece) for row in batch.to_pylist()]

    return rows


@pytest.fixture
def memory():
    """The `memory://` file system, empty before and after."""
    fs = fsspec.filesystem("memory")

    def clear() -> None:
        with contextlib.suppress(FileNotFoundError):
            fs.rm("/", recursive=True)

    clear()
    yield fs
    clear()
