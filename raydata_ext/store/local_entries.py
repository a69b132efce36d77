"""The files of a cache directory on a local or shared file system, without locks.

A shard file never replaces other bytes. It takes the name `<key>.arrow` by a hard link, which fails if the name is
taken; then, unless the file there holds the same bytes, it is named after its content as well. The receipt names its
file and replaces an older receipt by a rename. So whatever two writers of one key do at the same time, and also where
the function was not deterministic, every receipt that can be read belongs to the file that it names; a file that no
receipt names is left to garbage collection. Links and renames are atomic on NFS too.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from raydata_ext.errors import CorruptFileError, StoreError, WriteError
from raydata_ext.store.atomic_files import sync_path, write_file_atomically
from raydata_ext.store.entry_files import FileStatus, FoundReceipts
from raydata_ext.store.mapped_files import mapped_files
from raydata_ext.store.receipt import (
    Receipt,
    content_file_name,
    entry_directory,
    plain_file_name,
    receipt_file_name,
)
from raydata_ext.store.staging import staging_name
from raydata_ext.table.memory_mapped import MemoryMappedTable
from raydata_ext.table.verify import checksum_file, verify_ipc_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DIRECTORY_NAME = re.compile(r"[0-9a-f]{2}")

_LISTED_FROM = 8
"""From this many keys on a directory is listed, since most lookups of missing keys then cost nothing."""

_USE_MARKED_EVERY = 600.0
"""Seconds; a receipt in use is touched no more often than this. Far below the hour that collection leaves in peace."""


@dataclass(frozen=True)
class LocalEntries:
    """Entries under a directory.

    Args:
        root: Absolute path of the cache directory; made when the first entry is written.
        sync: Whether publication waits for the disk.
    """

    root: str
    sync: bool = False

    def __post_init__(self) -> None:
        there = next(place for place in (Path(self.root), *Path(self.root).parents) if os.path.lexists(place))
        if not there.is_dir():
            what = "a link to nothing" if there.is_symlink() else "a file"
            raise StoreError(f"{there} is {what}; give a directory as the place of the cache")

    def directories(self) -> list[str]:
        """Return the directories that exist, sorted."""
        return sorted(name for name in _names(Path(self.root)) if _DIRECTORY_NAME.fullmatch(name))

    def list_files(self, directory: str) -> list[FileStatus]:
        """Return all files of a directory, temporary ones too."""
        return list(self._statuses(directory))

    def status(self, name: str) -> FileStatus | None:
        """Return what is known of a file, given relative to the root, or None if there is none."""
        try:
            status = Path(self.root, name).stat()
        except FileNotFoundError:
            return None
        return FileStatus(name, status.st_size, status.st_mtime)

    def files_in_use(self) -> set[str]:
        """Return the files that processes of this machine have mapped, relative to the root."""
        return mapped_files(self.root)

    def find_receipts(self, directory: str, keys: Iterable[str], *, mark_used: bool = True) -> FoundReceipts:
        """Look up keys of one directory, and note in the time stamps of their receipts that they were used."""
        wanted = list(keys)
        if len(wanted) >= _LISTED_FROM:
            present = set(_names(Path(self.root, directory)))
            wanted = [key for key in wanted if receipt_file_name(key) in present]
        found = {}
        mark_before = time.time() - _USE_MARKED_EVERY if mark_used else 0.0
        for key in wanted:
            content = _read_receipt(f"{self.root}/{directory}/{receipt_file_name(key)}", mark_before)
            if content is not None:
                found[key] = content
        return FoundReceipts(found, lambda name: _size(f"{self.root}/{directory}/{name}"))

    def staging_path(self, key: str) -> str:
        """Return the path, private to this thread, under which the shard file of an entry is to be written."""
        directory = Path(self.root, entry_directory(key))
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteError(
                error.errno, f"cannot make the directory ({error.strerror}); check the cache directory", str(directory)
            ) from error
        return str(staging_name(directory, key))

    def add_shard_file(self, staged: str, receipt: Receipt) -> str:
        """Move a staged file into the store, never over other bytes, and return the name it got."""
        directory = Path(self.root, entry_directory(receipt.key))
        if self.sync:
            sync_path(staged)
        name = plain_file_name(receipt.key)
        if _take_name(Path(staged), directory / name, receipt):
            Path(staged).unlink()
        else:
            name = content_file_name(receipt.key, receipt.checksum)
            Path(staged).replace(directory / name)
        if self.sync:
            sync_path(directory)
        return name

    def write_receipt(self, receipt: Receipt) -> None:
        """Write the receipt; it replaces an older one at once."""
        path = Path(self.root, entry_directory(receipt.key), receipt_file_name(receipt.key))
        write_file_atomically(path, receipt.to_json(), sync=self.sync)

    def delete(self, name: str) -> None:
        """Delete a file, given relative to the root; one that is not there is none to delete."""
        Path(self.root, name).unlink(missing_ok=True)

    def remove_all(self) -> None:
        """Remove the directory."""
        with contextlib.suppress(FileNotFoundError):  # nothing was written
            shutil.rmtree(self.root)

    def local_path(self, receipt: Receipt) -> str:
        """Return the path of the shard file itself."""
        return f"{self.root}/{entry_directory(receipt.key)}/{receipt.file_name}"

    def release(self, receipt: Receipt) -> None:
        """Do nothing: the path is that of the entry."""

    def table(self, receipt: Receipt) -> MemoryMappedTable:
        """Return the shard as a table, which maps the file when its rows are looked at."""
        return MemoryMappedTable.from_file(
            self.local_path(receipt), schema=receipt.schema, num_rows=receipt.rows, num_bytes=receipt.num_bytes
        )

    def verify(self, receipt: Receipt) -> None:
        """Read all of the shard file and compare it with the receipt."""
        path = self.local_path(receipt)
        try:
            summary = verify_ipc_file(path, checksum=receipt.checksum, num_bytes=receipt.num_bytes)
        except FileNotFoundError as error:
            raise CorruptFileError(f"{path} is missing; compute it again") from error
        if summary.rows != receipt.rows:
            raise CorruptFileError(f"{path}: has {summary.rows} rows, not {receipt.rows} as its receipt says")

    def _statuses(self, directory: str) -> Iterator[FileStatus]:
        try:
            listing = os.scandir(Path(self.root, directory))
        except FileNotFoundError:
            return
        with listing:
            for entry in listing:
                with contextlib.suppress(FileNotFoundError):  # deleted or renamed since it was listed
                    status = entry.stat(follow_symlinks=False)
                    if entry.is_file(follow_symlinks=False):
                        yield FileStatus(f"{directory}/{entry.name}", status.st_size, status.st_mtime)


def _names(directory: Path) -> list[str]:
    try:
        with os.scandir(directory) as listing:
            return [entry.name for entry in listing]
    except FileNotFoundError:
        return []


def _size(path: str) -> int | None:
    try:
        return os.stat(path).st_size  # noqa: PTH116  for thousands of names a Path costs more than the call
    except FileNotFoundError:
        return None


def _read_receipt(path: str, mark_before: float) -> bytes | None:
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123  as in `_size`
            status = os.fstat(file.fileno())
            content = file.read()
    except FileNotFoundError:
        return None
    if status.st_mtime < mark_before:
        with contextlib.suppress(OSError):  # a cache that is only readable, or another user's: it is used all the same
            os.utime(path)
    return content


def _take_name(staged: Path, path: Path, receipt: Receipt) -> bool:
    """Give the staged file this name if it is free; true as well if the same bytes have it already."""
    try:
        os.link(staged, path)
    except FileExistsError:
        with contextlib.suppress(OSError):  # gone meanwhile, or not readable: then the name is not ours to use
            os.utime(path)  # before it is read, so that collection takes it for what it is: in use
            return path.stat().st_size == receipt.num_bytes and checksum_file(path) == receipt.checksum
        return False
    except OSError:  # a file system without hard links
        return False
    return True
