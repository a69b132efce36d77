"""The files of a store under an fsspec URL.

Object stores have no atomic "create unless it exists" that all of them share, so a shard file is always named after its
content, `<key>-<checksum>.arrow`: writers of one key can't mix their files and receipts, whatever the order of their
uploads. A file is uploaded before its receipt.
"""

from __future__ import annotations

import contextlib
import functools
import math
import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raydata_ext.errors import CorruptFileError
from raydata_ext.remote import Retries, StorageOptions, find_file_system
from raydata_ext.store.entry_files import FileStatus, FoundReceipts
from raydata_ext.store.receipt import Receipt, content_file_name, entry_directory, receipt_file_name
from raydata_ext.store.remote_file import RemoteFile
from raydata_ext.store.staging import staging_name
from raydata_ext.store.transfer import remote_checksum, upload
from raydata_ext.table.memory_mapped import MemoryMappedTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from raydata_ext.store.node_cache import NodeCache

_DIRECTORY_NAME = re.compile(r"[0-9a-f]{2}")
_TIME_KEYS = ("LastModified", "last_modified", "mtime", "updated", "created")  # s3, azure, local and sftp, gcs, memory


@dataclass(frozen=True)
class RemoteEntries:
    """Entries under a URL.

    Args:
        root: fsspec URL.
        copies: The node-local copies of shard files.
        storage_options: Further arguments of the fsspec file system.
        retries: How often a request is tried that fails for a passing reason.
    """

    root: str
    copies: NodeCache
    storage_options: StorageOptions = field(default_factory=dict, repr=False)  # it may hold secrets
    retries: Retries = field(default_factory=Retries)

    def directories(self) -> list[str]:
        """Return the directories that exist, sorted."""
        names = (one["name"].rstrip("/").rpartition("/")[2] for one in self._list(""))
        return sorted(name for name in names if _DIRECTORY_NAME.fullmatch(name))

    def list_files(self, directory: str) -> list[FileStatus]:
        """Return all files of a directory."""
        return [
            _status(f"{directory}/{one['name'].rpartition('/')[2]}", one)
            for one in self._list(directory)
            if one["type"] == "file"
        ]

    def status(self, name: str) -> FileStatus | None:
        """Return what is known of a file, or None if there is none."""
        path = self._path(name)
        self._file_system.invalidate_cache(path.rpartition("/")[0])
        try:
            info = self.retries.run(f"looking at {self.root}/{name}", lambda: self._file_system.info(path))
        except FileNotFoundError:
            return None
        return _status(name, info)

    def files_in_use(self) -> set[str]:
        """Return nothing: it is node-local copies that are mapped."""
        return set()

    def find_receipts(self, directory: str, keys: Iterable[str], *, mark_used: bool = True) -> FoundReceipts:  # noqa: ARG002  objects keep no time of use
        """Look up keys of one directory, with one listing and then the receipts that exist."""
        sizes = {status.name.rpartition("/")[2]: status.num_bytes for status in self.list_files(directory)}
        paths = {
            self._path(f"{directory}/{receipt_file_name(key)}"): key for key in keys if receipt_file_name(key) in sizes
        }
        found = self.retries.run(f"reading receipts of {self.root}/{directory}", lambda: self._read(list(paths)))
        return FoundReceipts({paths[path]: content for path, content in found.items()}, sizes.get)

    def staging_path(self, key: str) -> str:
        """Return the node-local path, private to this thread, for the shard file of an entry in the making."""
        return str(staging_name(self.copies.make_directory(), key))

    def add_shard_file(self, staged: str, receipt: Receipt) -> str:
        """Upload a staged file, keep it as the node-local copy, and return its name."""
        name = content_file_name(receipt.key, receipt.checksum)
        target = f"{entry_directory(receipt.key)}/{name}"
        upload(Path(staged), f"{self.root}/{target}", self.storage_options, self.retries)
        self.copies.adopt(Path(staged), name)
        return name

    def write_receipt(self, receipt: Receipt) -> None:
        """Write the receipt; it replaces an older one at once."""
        name = f"{entry_directory(receipt.key)}/{receipt_file_name(receipt.key)}"
        content = receipt.to_json()
        self.retries.run(f"writing {self.root}/{name}", lambda: self._file_system.pipe_file(self._path(name), content))

    def remote_file(self, receipt: Receipt) -> RemoteFile:
        """Return where the shard file is, and how it is copied."""
        return RemoteFile(
            f"{self.root}/{entry_directory(receipt.key)}/{receipt.file_name}",
            content_file_name(receipt.key, receipt.checksum),
            receipt.num_bytes,
            receipt.checksum,
            self.copies,
            self.storage_options,
            self.retries,
        )

    def local_path(self, receipt: Receipt) -> str:
        """Return the path of the node-local copy, fetched if there is none; it stays valid until `release`."""
        return self.remote_file(receipt).hold()

    def release(self, receipt: Receipt) -> None:
        """Say that the node-local copy is no longer needed."""
        self.remote_file(receipt).release()

    def table(self, receipt: Receipt) -> MemoryMappedTable:
        """Return the shard as a table, which copies the file wherever its rows are looked at."""
        file = self.remote_file(receipt)
        return MemoryMappedTable.from_file(
            file.url, schema=receipt.schema, num_rows=receipt.rows, num_bytes=receipt.num_bytes, origin=file
        )

    def verify(self, receipt: Receipt) -> None:
        """Read all of the shard file where it is, and compare its checksum with the receipt."""
        url = self.remote_file(receipt).url
        try:
            found = remote_checksum(url, receipt.num_bytes, self.storage_options, self.retries)
        except FileNotFoundError as error:
            raise CorruptFileError(f"{url} is missing; compute it again") from error
        if found != receipt.checksum:
            raise CorruptFileError(f"{url}: its checksum is {found}, {receipt.checksum} was expected; compute it again")

    def delete(self, name: str) -> None:
        """Delete a file; one that is not there is none to delete."""
        with contextlib.suppress(FileNotFoundError):
            self.retries.run(f"deleting {self.root}/{name}", lambda: self._file_system.rm_file(self._path(name)))

    def remove_all(self) -> None:
        """Delete everything under the URL."""
        with contextlib.suppress(FileNotFoundError):  # nothing was written
            self.retries.run(f"deleting {self.root}", lambda: self._file_system.rm(self._location[1], recursive=True))

    @functools.cached_property
    def _location(self) -> tuple[Any, str]:
        file_system, path = find_file_system(self.root, self.storage_options)
        return file_system, path.rstrip("/")

    @property
    def _file_system(self) -> Any:
        return self._location[0]

    def _path(self, name: str) -> str:
        return f"{self._location[1]}/{name}" if name else self._location[1]

    def _list(self, directory: str) -> list[dict[str, Any]]:
        path = self._path(directory)

        def listing() -> list[dict[str, Any]]:
            self._file_system.invalidate_cache(path)
            found: list[dict[str, Any]] = self._file_system.ls(path, detail=True)
            return found

        try:
            return self.retries.run(f"listing {self.root}/{directory}", listing)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _read(self, paths: list[str]) -> dict[str, bytes]:
        """Read small files, all at once where the file system can; those deleted meanwhile are left out."""
        if not paths:
            return {}
        found = self._file_system.cat(paths, on_error="return")
        for content in found.values():
            if isinstance(content, Exception) and not isinstance(content, FileNotFoundError | KeyError):
                raise content
        return {path: content for path, content in found.items() if isinstance(content, bytes)}


def _status(name: str, info: Mapping[str, Any]) -> FileStatus:
    return FileStatus(name, int(info["size"] or 0), _modified(info))


def _modified(info: Mapping[str, Any]) -> float:
    for key in _TIME_KEYS:
        value = info.get(key)
        if isinstance(value, int | float):
            return float(value)
        if isinstance(value, str):
            value = _parsed(value)
        if isinstance(value, datetime):
            return value.timestamp()
    return math.inf


def _parsed(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00"))  # "Z" is read from Python 3.11 on
    except ValueError:
        return None
