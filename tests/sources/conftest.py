"""What the tests of sources share: files on disk as the readers take them, and files on the `memory://` file system."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import fsspec
import pytest

from raydata_ext.sources import InputFile, Piece

if TYPE_CHECKING:
    from pathlib import Path


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
