"""Copies of remote files on the disk of this machine, shared by its processes, bounded in size.

A copy is named after its content, so it never goes stale, and is found again after a restart. A process that uses a
copy holds a *hard link* of its own to it, under `in_use/<host>.<process id>/`, and hands out the path of that link. So
eviction needs no lock: whoever evicts a copy removes its shared name only, and skips copies with further links, since
removing those would free nothing. Links of processes that have ended are removed when room is needed. Processes that
want the same copy at the same time wait for the one that fetches it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import socket
import tempfile
import threading
import time
from collections import Counter, deque
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import xxhash
from pydantic import ByteSize, TypeAdapter, ValidationError

from raydata_ext.errors import CorruptFileError, NoRoomError, StoreError
from raydata_ext.store.orphans import is_orphan, owner_is_gone
from raydata_ext.table.ipc_writer import temporary_name
from raydata_ext.table.verify import checksum_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOCAL_DIR_VARIABLE = "RAYDATA_EXT_LOCAL_DIR"
MAX_LOCAL_BYTES_VARIABLE = "RAYDATA_EXT_MAX_LOCAL_BYTES"

_IN_USE = "in_use"
_LOCKS = "locks"

_DISK_SHARE_LEFT_FREE = 0.1

_holders: Counter[str] = Counter()  # how often this process uses each of its links
_holders_lock = threading.Lock()
_given_up: deque[str] = deque()  # links that were released once more while another thread held the lock
os.register_at_fork(
    before=_holders_lock.acquire, after_in_parent=_holders_lock.release, after_in_child=_holders_lock.release
)


@dataclass(frozen=True)
class NodeCache:
    """The copies of a machine: a value that travels, and stands for the copies of the machine that it is used on.

    Args:
        directory: Where the copies are, on a disk of the machine; made when first needed. None is what the environment
            variable `RAYDATA_EXT_LOCAL_DIR` of the process says, else a directory of the user's own below the system's
            directory for temporary files.
        max_bytes: Bound of the size of all copies in the directory; several processes that fetch at the same time can
            exceed it by what they are fetching. None is what `RAYDATA_EXT_MAX_LOCAL_BYTES` says, as a number of bytes
            or as in `500GB`, else all of the disk but a tenth.
    """

    directory: str | None = None
    max_bytes: int | None = None

    @property
    def path(self) -> Path:
        """The directory on this machine."""
        return Path(self._chosen_directory or default_node_directory()).absolute()

    def hold(self, name: str, num_bytes: int, checksum: str | None, download: Callable[[Path], None]) -> str:
        """Return the path of a copy, which stays valid until `release` or the end of this process.

        Args:
            name: File name of the copy, which ends in `.arrow`; the same name always stands for the same bytes.
            num_bytes: Size of the file.
            checksum: xxh3-128 of the file, 32 hex digits; None where only its size is known.
            download: Writes the file to the path it is given; called if there is no copy.

        Raises:
            NoRoomError: If the copies in use leave no room.
            CorruptFileError: If the file that was downloaded is not the one expected.
        """
        copy, link = self.path / name, self._link(name)
        if not _hold_link(copy, link, num_bytes):
            self.make_directory()
            with _locked(self.path / _LOCKS, name):
                if not _hold_link(copy, link, num_bytes):  # nobody fetched it meanwhile
                    self._fetch(copy, link, num_bytes, checksum, download)
        return str(link)

    def release(self, name: str) -> None:
        """Say that a path that `hold` gave is no longer needed. Its last user in this process gives up the link.

        It never waits, since garbage collection may call it at any moment, even within a call of `hold`.
        """
        _given_up.append(str(self._link(name)))
        if _holders_lock.acquire(blocking=False):
            try:
                _give_up_links()
            finally:
                _holders_lock.release()

    def adopt(self, path: Path, name: str) -> None:
        """Make a file that was written into the directory of copies a copy itself.

        Args:
            path: The file.
            name: File name of the copy.
        """
        path.replace(self.path / name)
        with contextlib.suppress(StoreError):  # the copy stands; the next fetch says so if there is no room left
            self._make_room(0)

    def make_directory(self) -> Path:
        """Return the directory, after making it if need be.

        Raises:
            StoreError: If it is the default one and belongs to another user, or is a link.
        """
        private = not self._chosen_directory  # everybody may make a directory among the temporary files
        directory = self.path
        directory.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
        status = directory.lstat()
        if private and (status.st_uid != os.getuid() or not S_ISDIR(status.st_mode)):
            raise StoreError(
                f"{directory} belongs to another user or is a link; set {LOCAL_DIR_VARIABLE} to a directory of your own"
            )
        return directory

    @property
    def _chosen_directory(self) -> str:
        return self.directory or os.environ.get(LOCAL_DIR_VARIABLE, "")

    def _link(self, name: str) -> Path:
        owner = f"{quote(socket.gethostname(), safe='')}.{os.getpid()}"
        return self.path / _IN_USE / owner / name

    def _fetch(
        self, copy: Path, link: Path, num_bytes: int, checksum: str | None, download: Callable[[Path], None]
    ) -> None:
        self._make_room(num_bytes)
        temporary = temporary_name(copy)
        try:
            download(temporary)
            if not _is_whole(temporary, num_bytes, checksum):
                download(temporary)  # it may have been damaged on its way
            if not _is_whole(temporary, num_bytes, checksum):
                raise CorruptFileError(f"what was fetched is not {num_bytes} bytes of checksum {checksum}")
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
        for path, status in _files_below(self.path):
            sizes[status.st_ino] = status.st_size
            if path.parent == self.path and path.suffix == ".arrow" and status.st_nlink == 1:
                unused.append((status.st_mtime, status.st_size, path))
        total = sum(sizes.values())
        limit = self._limit(total)
        for _, size, path in sorted(unused):
            if total + num_bytes <= limit:
                break
            path.unlink(missing_ok=True)
            total -= size
        if total + num_bytes > limit:
            raise NoRoomError(
                f"{self.path}: no room for {num_bytes} bytes, since {total} of at most {limit} are in use by live "
                f"processes; raise max_local_bytes ({MAX_LOCAL_BYTES_VARIABLE}), give a larger disk as local_dir "
                f"({LOCAL_DIR_VARIABLE}), or hold on to fewer rows at a time",
                may_pass=num_bytes + self._own_bytes() <= limit,
            )

    def _own_bytes(self) -> int:
        """Size of the copies that this process uses."""
        return sum(status.st_size for _, status in _files_below(self._link("").parent))

    def _limit(self, total: int) -> int:
        if self.max_bytes is not None:
            return self.max_bytes
        if text := os.environ.get(MAX_LOCAL_BYTES_VARIABLE):
            try:
                return int(TypeAdapter(ByteSize).validate_python(text))
            except ValidationError as error:
                raise StoreError(f"{MAX_LOCAL_BYTES_VARIABLE} is {text!r}; give a size such as 500GB") from error
        disk = shutil.disk_usage(self.path)
        return total + max(0, disk.free - int(disk.total * _DISK_SHARE_LEFT_FREE))

    def _remove_leftovers(self) -> None:
        """Remove what processes that have ended were writing, and their links."""
        now = time.time()
        for links in (self.path / _IN_USE).glob("*.*"):
            host, _, process_id = links.name.rpartition(".")
            with contextlib.suppress(FileNotFoundError):  # another process removes it as well
                if process_id.isdigit() and owner_is_gone(unquote(host), int(process_id), links.stat().st_mtime, now):
                    shutil.rmtree(links)
        for path in self.path.glob(".*.tmp"):
            with contextlib.suppress(FileNotFoundError):  # finished meanwhile
                if is_orphan(path.name, path.stat().st_mtime, now):
                    path.unlink()


def default_node_directory() -> str:
    """Return the user's own directory for copies, in the system's directory for temporary files."""
    return str(Path(tempfile.gettempdir(), f"raydata_ext-{os.getuid()}"))


@contextlib.contextmanager
def _locked(directory: Path, name: str) -> Iterator[None]:
    """Keep others on this machine, threads too, from fetching the same copy. A lock ends with its process."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / f"{xxhash.xxh3_64_intdigest(name.encode()) & 0xFF:02x}").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)  # closing is not enough: a child that was forked has the file open, too


def _hold_link(copy: Path, link: Path, num_bytes: int) -> bool:
    """Have one more user of this process's link, which is made if there is a whole copy to link to."""
    with _holders_lock:
        _give_up_links()
        if _holders[str(link)] == 0 and not _make_link(copy, link, num_bytes):
            return False
        _holders[str(link)] += 1
        return True


def _give_up_links() -> None:
    """Do what `release` was called for; the lock is held."""
    while _given_up:
        link = _given_up.popleft()
        if _holders[link] > 1:
            _holders[link] -= 1
        elif _holders.pop(link, 0):
            Path(link).unlink(missing_ok=True)


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


def _is_whole(path: Path, num_bytes: int, checksum: str | None) -> bool:
    return path.stat().st_size == num_bytes and checksum in (None, checksum_file(path))


def _files_below(directory: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for parent, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(FileNotFoundError):  # removed by another process
                path = Path(parent, name)
                yield path, path.stat()
