"""Copies of remote files on the disk of this machine, shared by its processes, bounded in size.

A copy is named after its content, so it never goes stale, and is found again after a restart. A process that uses a
copy holds a *hard link* of its own to it, under `in_use/<host>.<process id>/`, and hands out the path of that link. So
eviction needs no lock: whoever evicts a copy removes its shared name only, and skips copies with further links, since
removing those would free nothing. Links of processes that have ended are removed when room is needed. Processes that
want the same copy at the same time wait for the one that fetches it.

A file that is fetched has its full size from the start, as a sparse file, so that whoever makes room next counts it in
full. One at a time on a machine makes room, takes it, or gives a file another name.
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
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import quote, unquote

import xxhash
from pydantic import ByteSize, TypeAdapter, ValidationError

from raydata_ext.errors import CorruptFileError, NoRoomError, StoreError
from raydata_ext.store.orphans import is_orphan, owner_is_gone
from raydata_ext.table.ipc_writer import parse_temporary_name, temporary_name
from raydata_ext.table.verify import checksum_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOCAL_DIR_VARIABLE = "RAYDATA_EXT_LOCAL_DIR"
MAX_LOCAL_BYTES_VARIABLE = "RAYDATA_EXT_MAX_LOCAL_BYTES"

_IN_USE = "in_use"
_LOCKS = "locks"
_ROOM_LOCK = "room"

_DISK_SHARE_LEFT_FREE = 0.1
_BLOCK_BYTES = 512
"""Of `st_blocks`, whatever the blocks of the file system are."""

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
        max_bytes: Bound of the size of all copies in the directory, those that are being fetched included. Only results
            that are written there before they go to a store can exceed it, since nobody knows how large they become.
            None is what `RAYDATA_EXT_MAX_LOCAL_BYTES` says, as a number of bytes or as in `500GB`, else all of the disk
            but a tenth.
    """

    directory: str | None = None
    max_bytes: int | None = None

    @property
    def path(self) -> Path:
        """The directory on this machine."""
        return Path(self._chosen_directory or default_node_directory()).absolute()

    def hold(self, name: str, num_bytes: int, checksum: str | None, download: Callable[[BinaryIO], None]) -> str:
        """Return the path of a copy, which stays valid until `release` or the end of this process.

        Args:
            name: File name of the copy, which ends in `.arrow`; the same name always stands for the same bytes.
            num_bytes: Size of the file.
            checksum: xxh3-128 of the file, 32 hex digits; None where only its size is known.
            download: Writes the bytes to the file it is given, from its begin; called if there is no copy.

        Raises:
            NoRoomError: If the copies in use leave no room.
            CorruptFileError: If the file that was downloaded is not the one expected.
        """
        copy, link = self.path / name, self._link(name)
        if not _hold_link(copy, link, num_bytes):
            self.make_directory()
            with self._locked(f"{xxhash.xxh3_64_intdigest(name.encode()) & 0xFF:02x}"):
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
        with self._locked(_ROOM_LOCK):
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
        self, copy: Path, link: Path, num_bytes: int, checksum: str | None, download: Callable[[BinaryIO], None]
    ) -> None:
        temporary = temporary_name(copy)
        try:
            self._reserve(temporary, num_bytes)
            # what is damaged on its way is fetched once more
            if not any(_fill(temporary, num_bytes, checksum, download) for _ in range(2)):
                raise CorruptFileError(f"what was fetched is not {num_bytes} bytes of checksum {checksum}")
            if not _hold_link(temporary, link, num_bytes):  # before others see the copy, and could evict it
                raise StoreError(
                    f"{temporary} was removed while it was in use; nobody else may write to that directory"
                )
            with self._locked(_ROOM_LOCK):  # or whoever counts files might find it under neither name
                temporary.replace(copy)
        finally:
            temporary.unlink(missing_ok=True)

    def _reserve(self, temporary: Path, num_bytes: int) -> None:
        """Make room for a file, and take it before anybody else does."""
        with self._locked(_ROOM_LOCK):
            self._make_room(num_bytes)
            with temporary.open("xb") as file:
                file.truncate(num_bytes)

    def _make_room(self, num_bytes: int) -> None:
        """Remove copies that nobody uses, least recently used first, until there is room for so many bytes.

        The lock of the room is held.
        """
        self._remove_leftovers()
        found: dict[int, os.stat_result] = {}  # by inode
        own, unused = set(), []
        links, this_process = self._link("").parent, (socket.gethostname(), os.getpid())
        for path, status in _files_below(self.path):
            found[status.st_ino] = status
            if path.parent == links or parse_temporary_name(path.name) == this_process:
                own.add(status.st_ino)
            if path.parent == self.path and path.suffix == ".arrow" and status.st_nlink == 1:
                unused.append((status.st_mtime, status.st_size, path))
        total = sum(status.st_size for status in found.values())
        limit = self._limit(sum(status.st_blocks * _BLOCK_BYTES for status in found.values()))
        for _, size, path in sorted(unused):
            if total + num_bytes <= limit:
                break
            if _evict(path):
                total -= size
        if total + num_bytes > limit:
            raise NoRoomError(
                f"{self.path}: no room for {num_bytes} bytes, since {total} of at most {limit} are in use by live "
                f"processes; raise max_local_bytes ({MAX_LOCAL_BYTES_VARIABLE}), give a larger disk as local_dir "
                f"({LOCAL_DIR_VARIABLE}), or hold on to fewer rows at a time",
                may_pass=num_bytes + sum(found[inode].st_size for inode in own) <= limit,
            )

    def _limit(self, allocated: int) -> int:
        """The bound, where so many bytes of the disk are taken by what is in the directory."""
        if self.max_bytes is not None:
            return self.max_bytes
        if text := os.environ.get(MAX_LOCAL_BYTES_VARIABLE):
            try:
                return int(TypeAdapter(ByteSize).validate_python(text))
            except ValidationError as error:
                raise StoreError(f"{MAX_LOCAL_BYTES_VARIABLE} is {text!r}; give a size such as 500GB") from error
        disk = shutil.disk_usage(self.path)
        return allocated + max(0, disk.free - int(disk.total * _DISK_SHARE_LEFT_FREE))

    @contextlib.contextmanager
    def _locked(self, lock: str) -> Iterator[None]:
        """Keep others on this machine, threads too, out of what one at a time may do. A lock ends with its process."""
        directory = self.path / _LOCKS
        directory.mkdir(parents=True, exist_ok=True)
        with (directory / lock).open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(file, fcntl.LOCK_UN)  # closing is not enough: a child that was forked has the file open

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


def _evict(copy: Path) -> bool:
    """Remove the shared name of a copy; whether that freed it, which it does not if it has come into use meanwhile."""
    try:
        file = os.open(copy, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        copy.unlink(missing_ok=True)
        return os.fstat(file).st_nlink == 0
    finally:
        os.close(file)


def _fill(path: Path, num_bytes: int, checksum: str | None, download: Callable[[BinaryIO], None]) -> bool:
    """Write a file that has its size already; whether it is what it should be then."""
    with path.open("r+b") as file:
        file.truncate(num_bytes)  # an earlier try may have made it longer
        download(file)
        is_whole = file.tell() == num_bytes
    return is_whole and checksum in (None, checksum_file(path))


def _files_below(directory: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for parent, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(FileNotFoundError):  # removed by another process
                path = Path(parent, name)
                yield path, path.stat()
