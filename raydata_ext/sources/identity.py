"""The content of an input, known without reading it again where nothing can have changed.

Like git's index: a file whose path, size, modification time and inode are those of an earlier look still has the
content hash of that look. So touching a file costs one read of it and recomputes nothing; the same bytes at another
path are the same content. A file that was written so shortly before it was hashed that a second write could bear the
same time stamp is not trusted the next time (git calls such entries racy). Of an object with a tag or checksum, that
is the content.

The index is a directory of small JSON files, one for each of 256 hashes of parent directories, each replaced
atomically. It is a memory only: losing it, or an entry to a second writer, costs a read.
"""

from __future__ import annotations

import logging
import posixpath
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import orjson
import xxhash

from raydata_ext.redaction import readable
from raydata_ext.table.ipc_writer import temporary_name

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from raydata_ext.sources.input_file import Piece

_log = logging.getLogger(__name__)

FINE_CLOCK_NS = 20_000_000
COARSE_CLOCK_NS = 2_000_000_000
"""How long after a write another may bear the same time stamp, as the file system keeps fractions of seconds or not."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """The content hash of a piece, and a time before it was read (ns since the epoch): later writes are later."""

    piece: Piece
    content: str
    seen_ns: int


class _Entry(NamedTuple):
    """What was seen of a piece, as the index holds it."""

    size: int
    version: str
    content: str
    seen_ns: int


@dataclass
class IdentityIndex:
    """Content hashes of pieces of files by what the file system says of them.

    Args:
        directory: a local directory; it is made at the first save.
    """

    directory: Path
    _buckets: dict[str, dict[str, _Entry]] = field(default_factory=dict, repr=False)
    _added: dict[str, dict[str, _Entry]] = field(default_factory=dict, repr=False)

    def content(self, piece: Piece) -> str | None:
        """The content hash of a piece, or None where it has to be read."""
        file = piece.file
        if file.has_etag:
            return xxhash.xxh3_128_hexdigest(f"{file.version}:{file.size}:{piece.start}:{piece.end}".encode())
        entry = self._bucket(_bucket_name(piece)).get(_entry_key(piece)) if file.version else None
        if entry is None or (entry.size, entry.version) != (file.size, file.version) or _is_racy(piece, entry.seen_ns):
            return None
        return entry.content

    def add(self, sightings: Iterable[Sighting]) -> None:
        """Remember contents; `save` writes them."""
        for sighting in sightings:
            file = sighting.piece.file
            if file.version and not file.has_etag:
                name, key = _bucket_name(sighting.piece), _entry_key(sighting.piece)
                entry = _Entry(file.size, file.version, sighting.content, sighting.seen_ns)
                self._bucket(name)[key] = entry
                self._added.setdefault(name, {})[key] = entry

    def save(self) -> None:
        """Write what was added; a failure is logged and costs the next run a read."""
        for name, added in sorted(self._added.items()):
            try:
                self._write(name, added)
            except OSError as error:
                _log.warning("cannot save known contents of inputs under %s: %s", self.directory, error)
                return
        self._added.clear()

    def _bucket(self, name: str) -> dict[str, _Entry]:
        if name not in self._buckets:
            self._buckets[name] = _load(self.directory / name)
        return self._buckets[name]

    def _write(self, name: str, added: dict[str, _Entry]) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        path = self.directory / name
        self._buckets[name] = _load(path) | added
        temporary = temporary_name(path)
        try:
            temporary.write_bytes(orjson.dumps(self._buckets[name], default=tuple))
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def _load(path: Path) -> dict[str, _Entry]:
    try:
        return {key: _Entry(*entry) for key, entry in orjson.loads(path.read_bytes()).items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        _log.warning("%s cannot be used, so inputs are read again: %s", path, error)
        return {}


def _bucket_name(piece: Piece) -> str:
    parent = posixpath.dirname(piece.file.path)
    return f"{xxhash.xxh3_64_intdigest(parent.encode(errors='surrogatepass')) & 0xFF:02x}.json"


def _entry_key(piece: Piece) -> str:
    return f"{readable(piece.file.path)}|{piece.start}|{piece.end}"


def _is_racy(piece: Piece, seen_ns: int) -> bool:
    modified = piece.file.modified_ns
    assert modified is not None
    clock = FINE_CLOCK_NS if modified % 1_000_000_000 else COARSE_CLOCK_NS
    return modified + clock > seen_ns
