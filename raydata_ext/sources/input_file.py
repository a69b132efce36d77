"""What a source reads from: files as the file system lists them, and pieces of files.

This module and `listing` are the only ones that talk to file systems about inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, cast

import fsspec


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file of a corpus, as it was when it was listed.

    Attributes:
        path: absolute local path, or URL.
        name: path relative to the fixed part of the pattern that matched; it does not change when the corpus moves.
        size: bytes.
        version: what tells this content from a later one without reading: modification time (ns) and inode of a local
            file, the ETag of an object; empty where the file system gives neither.
    """

    path: str
    name: str
    size: int
    version: str

    @property
    def is_local(self) -> bool:
        """Whether the path is one of this machine's file system."""
        return "://" not in self.path

    def open(self) -> IO[bytes]:
        """Open the raw bytes for reading."""
        if self.is_local:
            return open(self.path, "rb")  # noqa: SIM115 - the caller closes it
        return cast("IO[bytes]", fsspec.open(self.path, "rb").open())


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of one file that is read as a whole.

    Attributes:
        file: the file.
        start: first unit, in what the reader splits by: bytes of a text, row groups of Parquet, batches of Arrow.
        end: one past the last unit; None is the whole file.
        part_bytes: bytes of the part on disk; None is the whole file.
    """

    file: InputFile
    start: int = 0
    end: int | None = None
    part_bytes: int | None = None

    @property
    def num_bytes(self) -> int:
        """Bytes on disk."""
        return self.file.size if self.part_bytes is None else self.part_bytes

    @property
    def label(self) -> str:
        """The piece as messages name it: `corpus/a.jsonl` or `corpus/a.jsonl[0:268435456]`."""
        return self.file.path if self.end is None else f"{self.file.path}[{self.start}:{self.end}]"
