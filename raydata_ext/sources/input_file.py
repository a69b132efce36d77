"""What a source reads from: files as the file system lists them, and pieces of files."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from raydata_ext.errors import ReadError
from raydata_ext.redaction import readable
from raydata_ext.remote import ResumingStream, StorageOptions, find_file_system, find_version, is_url

ETAG = "etag:"
"""How the version of a file begins where the file system itself vouches for the content."""


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file of a corpus, as it was when it was listed.

    Attributes:
        path: absolute local path, or URL.
        name: path relative to the fixed part of the pattern that matched; it does not change when the corpus moves.
        size: bytes.
        version: what tells this content from a later one without reading: `etag:` and the tag or checksum of an object,
            else `{modification time in ns}:{inode}`; empty where the file system tells neither.
        storage_options: further arguments of the file system of a URL.
    """

    path: str
    name: str
    size: int
    version: str
    storage_options: StorageOptions | None = field(default=None, compare=False, repr=False)  # it may hold secrets

    @property
    def is_local(self) -> bool:
        """Whether the path is one of this machine's file system."""
        return not is_url(self.path)

    @property
    def has_etag(self) -> bool:
        """Whether the file system vouches for the content by a tag or checksum."""
        return self.version.startswith(ETAG)

    @property
    def modified_ns(self) -> int | None:
        """When the file was last written (ns since the epoch), as far as the version tells."""
        changed = self.version.partition(":")[0]
        return int(changed) if changed.isdecimal() else None

    def open(self) -> IO[bytes]:
        """Open the raw bytes for reading.

        Raises:
            ReadError: the file cannot be opened, or is no longer the one that was listed.
        """
        try:
            if self.is_local:
                stream = Path(self.path).open("rb", buffering=0)  # noqa: SIM115 - the caller closes it
                self._require_unchanged(os.fstat(stream.fileno()))
                return stream
            return cast("IO[bytes]", ResumingStream(self.path, self._open_remote, self.size or None, ReadError))
        except OSError as error:
            raise ReadError(f"{self.path}: cannot be opened ({error}); list the source again") from error

    def _open_remote(self) -> IO[bytes]:
        file_system, path = find_file_system(self.path, self.storage_options)
        stream: IO[bytes] = file_system.open(path, "rb")
        tag, _ = find_version(getattr(stream, "details", None) or {})
        if self.has_etag and tag and self.version != f"{ETAG}{tag}":
            stream.close()
            raise ReadError(f"{self.path}: changed since it was listed; run again when nothing writes to it")
        return stream

    def _require_unchanged(self, stat: os.stat_result) -> None:
        """Results are kept under the content that was listed, so no other content may be read.

        The inode is left out: some network file systems number a file differently on each machine.
        """
        if self.modified_ns is not None and (stat.st_size, stat.st_mtime_ns) != (self.size, self.modified_ns):
            raise ReadError(
                f"{self.path}: changed since it was listed ({self.size} bytes then, {stat.st_size} now); run again when"
                " nothing writes to it"
            )


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
        path = readable(self.file.path)
        return path if self.end is None else f"{path}[{self.start}:{self.end}]"


@dataclass(frozen=True, slots=True)
class CompressedRange(Piece):
    """Lines of a compressed file; `start` and `end` count decompressed bytes and lie where lines begin.

    Attributes:
        lines_path: Arrow file that holds the decompressed lines already; None is none, then all before `start` has to
            be decompressed, too, to read the piece.
    """

    lines_path: str | None = None

    @property
    def label(self) -> str:
        """The piece as messages name it; the end is open where the rest of the file is meant."""
        return f"{readable(self.file.path)}[{self.start}:{'' if self.end is None else self.end}]"
