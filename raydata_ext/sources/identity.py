"""The content of an input, known without reading it again where nothing can have changed.

Like git's index: a file whose path, size, modification time and inode are those of an earlier look still has the content
hash of that look. So touching a file costs one read of it and recomputes nothing; the same bytes at another path are the
same content. A file that was written so shortly before it was hashed that a second write could bear the same time stamp is
not trusted the next time (git calls such entries racy).

The index is a directory of small JSON files, one for each of 256 hashes of parent directories, each replaced atomically. It
is a memory only: losing it, or an entry to a second writer, costs a read.
"""

from __future__ import annotations

import contextlib
import logging
import os
import posixpath
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import xxhash

from raydata_ext.sources.input_file import Piece

_log = logging.getLogger(__name__)

FINE_CLOCK_NS = 20_000_000
COARSE_CLOCK_NS = 2_000_000_000
"""How long after a write another write may bear the same time stamp, on file systems that keep nanoseconds or seconds."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """The content hash of a piece, and when it was taken (ns since the epoch)."""

    piece: Piece
    content: str
    seen_ns: int


def see(piece: Piece, content: str) -> Sighting:
    """A sighting of now; take the time before reading, so that later writes are later."""
    return Sighting(piece, content, time.time_ns())


@dataclass
class IdentityIndex:
    """Content hashes of pieces of files by what the file system says of them.

    Args:
        directory: a local directory; it is made at the first save.
    """

    directory: Path
    _buckets: dict[str, dict[str, list[object]]] = field(default_factory=dict, repr=False)
    _changed: set[str] = field(default_factory=set, repr=False)

    def content(self, piece: Piece) -> str | None:
        """The content hash of a piece, or None where it has to be read."""
        file = piece.file
        if file.version.startswith("etag:"):
            return xxhash.xxh3_128_hexdigest(f"{file.version}:{file.size}:{piece.start}:{piece.end}")
        if not file.version:
            return None
        entry = self._bucket(_bucket_name(piece)).get(_entry_key(piece))
        if entry is None:
            return None
        content, seen_ns = entry
        if _is_racy(file.version, int(str(seen_ns))):
            return None
        return str(content)

    def add(self, sightings: Iterable[Sighting]) -> None:
        """Remember contents; `save` writes them."""
        for sighting in sightings:
            version = sighting.piece.file.version
            if version and not version.startswith("etag:"):
                name = _bucket_name(sighting.piece)
                self._bucket(name)[_entry_key(sighting.piece)] = [sighting.content, sighting.seen_ns]
                self._changed.add(name)

    def save(self) -> None:
        """Write what was added; a failure is logged and costs the next run a read."""
        for name in sorted(self._changed):
            try:
                self._write(name)
            except OSError as error:
                _log.warning("cannot save known contents of inputs under %s: %s", self.directory, error)
                return
        self._changed.clear()

    def _bucket(self, name: str) -> dict[str, list[object]]:
        if name not in self._buckets:
            self._buckets[name] = _load(self.directory / name)
        return self._buckets[name]

    def _write(self, name: str) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        merged = _load(self.directory / name) | self._buckets[name]
        temporary = self.directory / f".{name}.{os.getpid()}.tmp"
        try:
            temporary.write_bytes(orjson.dumps(merged))
            temporary.replace(self.directory / name)
        finally:
            with contextlib.suppress(FileNotFoundError):
                temporary.unlink()


def _load(path: Path) -> dict[str, list[object]]:
    try:
        loaded = orjson.loads(path.read_bytes())
    except (FileNotFoundError, orjson.JSONDecodeError):
        return {}
    return dict(loaded) if isinstance(loaded, Mapping) else {}


def _bucket_name(piece: Piece) -> str:
    parent = posixpath.dirname(piece.file.path)
    return f"{xxhash.xxh3_64_intdigest(parent.encode('utf8', 'surrogatepass')) & 0xFF:02x}.json"


def _entry_key(piece: Piece) -> str:
    file = piece.file
    path = file.path.encode("utf8", "backslashreplace").decode("utf8")
    return f"{path}|{file.size}|{file.version}|{piece.start}|{piece.end}"


def _is_racy(version: str, seen_ns: int) -> bool:
    changed = version.split(":")[0]
    if not changed.isdigit():
        return False
    clock = FINE_CLOCK_NS if int(changed) % 1_000_000_000 else COARSE_CLOCK_NS
    return int(changed) + clock > seen_ns
