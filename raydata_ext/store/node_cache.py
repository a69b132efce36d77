"""Copies of remote shard files on the disk of this machine, shared by its processes, bounded in size.

A copy is named by key and checksum, so it never goes stale, and is found again after a restart. A process that uses a
copy holds a *hard link* of its own to it, under `in_use/<host>.<process id>/`, and hands out the path of that link. So
no lock is needed: whoever evicts a copy removes its shared name only, and skips copies with further links, since
removing those would free nothing. Links of processes that have ended are removed when room is needed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import xxhash

from raydata_ext.errors import CorruptFileError, StoreError
from raydata_ext.store.orphans import is_orphan, owner_is_gone
from raydata_ext.table.ipc_writer import temporary_name
from raydata_ext.table.verify import checksum_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_IN_USE = "in_use"

_DISK_SHARE_LEFT_FREE = 0.1

_holders: Counter[str] = Counter()  # how often this process uses each of its links
_holders_lock = threading.Lock()
os.register_at_fork(
    before=_holders_lock.acquire, after_in_parent=_holders_lock.release, after_in_child=_holders_lock.release
)


@dataclass(frozen=True)
class NodeCache:
    """A directory of copies.

    Args:
        directory: Where the copies are, on a disk of this machine. Made when first needed.
        max_bytes: Bound of the size of all copies; None for all of the disk but a tenth. Several processes that fetch
            at the same time can exceed it by what they are fetching.
        private: Whether the directory must belong to this user, as is needed where everybody may make one.
    """

    directory: str
    max_bytes: int | None = None
    private: bool = False

    def hold(self, name: str, num_bytes: int, checksum: str, download: Callable[[Path], None]) -> str:
        """Return the path of a copy, which stays valid until `release` or the end of this process.

        Args:
            name: File name of the copy; the same name always stands for the same bytes.
            num_bytes: Size of the file.
            checksum: xxh3-128 of the file, 32 hex digits.
            download: Writes the file to the path it is given; called if there is no copy.

        Raises:
            StoreError: If the copies in use leave no room.
            CorruptFileError: If the file that was downloaded is not the one expected.
        """
        copy, link = Path(self.directory, name), self._link(name)
        if not _hold_link(copy, link, num_bytes):
            self._fetch(copy, link, num_bytes, checksum, download)
        return str(link)

    def release(self, name: str) -> None:
        """Say that a path that `hold` gave is no longer needed. Its last user in this process gives up the link."""
        link = self._link(name)
        with _holders_lock:
            if _holders[str(link)] > 0:
                _holders[str(link)] -= 1
                if _holders[str(link)] == 0:
                    del _holders[str(link)]
                    link.unlink(missing_ok=True)

    def adopt(self, path: Path, name: str) -> None:
        """Make a file that was written into the directory of copies a copy itself.

        Args:
            path: The file.
            name: File name of the copy.
        """
        path.replace(self.make_directory() / name)
        with contextlib.suppress(StoreError):  # the copy stands; the next fetch says so if there is no room left
            self._make_room(0)

    def make_directory(self) -> Path:
        """Return the directory, after making it if need be.

        Raises:
            StoreError: If it shall be private and belongs to another user.
        """
        directory = Path(self.directory)
        directory.mkdir(mode=0o700 if self.private else 0o777, parents=True, exist_ok=True)
        if self.private and directory.stat().st_uid != os.getuid():
            raise StoreError(f"{directory} belongs to another user; give a local_dir of your own")
        return directory

    def _link(self, name: str) -> Path:
        owner = f"{quote(socket.gethostname(), safe='')}.{os.getpid()}"
        return Path(self.directory, _IN_USE, owner, name)

    def _fetch(self, copy: Path, link: Path, num_bytes: int, checksum: str, download: Callable[[Path], None]) -> None:
        self.make_directory()
        self._make_room(num_bytes)
        temporary = temporary_name(copy)
        try:
            download(temporary)
            if not _is_whole(temporary, num_bytes, checksum):
                download(temporary)  # it may have been damaged on its way
            if not _is_whole(temporary, num_bytes, checksum):
                raise CorruptFileError(
                    f"{copy.name}: what was fetched is not what its receipt describes ({num_bytes} bytes of checksum "
                    f"{checksum}); discard the entry and compute it again"
                )
            if not _hold_link(temporary, link, num_bytes):  # before others see the copy, and could evict it
                raise StoreError(
                    f"{temporary} was removed while it was in use; nobody else may write to that directory"
                )
            temporary.replace(copy)
        finally:
            temporary.unlink(missing_ok=True)

    def _make_room(self, num_bytes: int) -> None:
        """Remove copies that nobody uses, least recently used first, until there is room for so many bytes."""
        self._remove_leftovers()
        sizes = {}
        unused = []
        for path, status in _files_below(Path(self.directory)):
            sizes[status.st_ino] = status.st_size
            if path.parent == Path(self.directory) and path.suffix == ".arrow" and status.st_nlink == 1:
                unused.append((status.st_mtime, status.st_size, path))
        total = sum(sizes.values())
        limit = self._limit(total)
        for _, size, path in sorted(unused):
            if total + num_bytes <= limit:
                break
            path.unlink(missing_ok=True)
            total -= size
        if total + num_bytes > limit:
            raise StoreError(
                f"{self.directory}: no room for {num_bytes} bytes, since {total} of at most {limit} are in use by live "
                "processes; raise max_local_bytes, give a larger disk as local_dir, or release shards that were read"
            )

    def _limit(self, total: int) -> int:
        if self.max_bytes is not None:
            return self.max_bytes
        disk = shutil.disk_usage(self.directory)
        return total + max(0, disk.free - int(disk.total * _DISK_SHARE_LEFT_FREE))

    def _remove_leftovers(self) -> None:
        """Remove what processes that have ended were writing, and their links."""
        now = time.time()
        for links in Path(self.directory, _IN_USE).glob("*.*"):
            host, _, process_id = links.name.rpartition(".")
            with contextlib.suppress(FileNotFoundError):  # another process removes it as well
                if process_id.isdigit() and owner_is_gone(unquote(host), int(process_id), links.stat().st_mtime, now):
                    shutil.rmtree(links)
        for path in Path(self.directory).glob(".*.tmp"):
            with contextlib.suppress(FileNotFoundError):  # finished meanwhile
                if is_orphan(path.name, path.stat().st_mtime, now):
                    path.unlink()


def default_node_directory(url: str) -> str:
    """Return the directory for copies of what is under a URL, in the system's directory for temporary files.

    Args:
        url: URL of the store.
    """
    name = f"raydata_ext-{os.getuid()}-{xxhash.xxh3_64_hexdigest(url.encode())}"
    return str(Path(tempfile.gettempdir(), name))


def _hold_link(copy: Path, link: Path, num_bytes: int) -> bool:
    """Have one more user of this process's link, which is made if there is a whole copy to link to."""
    with _holders_lock:
        if _holders[str(link)] == 0 and not _make_link(copy, link, num_bytes):
            return False
        _holders[str(link)] += 1
        return True


def _make_link(copy: Path, link: Path, num_bytes: int) -> bool:
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)  # that of an earlier process of this id
    try:
        os.link(copy, link)
    except FileNotFoundError:
        return False
    if link.stat().st_size != num_bytes:
        link.unlink()
        return False
    os.utime(link)  # the time of its last use, which the copy shares
    return True


def _is_whole(path: Path, num_bytes: int, checksum: str) -> bool:
    return path.stat().st_size == num_bytes and checksum_file(path) == checksum


def _files_below(directory: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for parent, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(FileNotFoundError):  # removed by another process
                path = Path(parent, name)
                yield path, path.stat()
