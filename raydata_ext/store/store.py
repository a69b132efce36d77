"""The store: results by key, in a directory or under a URL.

An entry is a shard file `<cache>/<first two hex digits>/<key>.arrow` and its receipt `<key>.json`. The receipt is
written last: no receipt, no result. What is damaged, half written or half deleted is no hit; it is computed again.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from raydata_ext.errors import StoreError
from raydata_ext.redaction import redacted
from raydata_ext.remote import Retries, absolute_place, is_url
from raydata_ext.store.local_entries import LocalEntries
from raydata_ext.store.node_cache import NodeCache
from raydata_ext.store.receipt import Receipt, check_key, entry_directory
from raydata_ext.store.remote_entries import RemoteEntries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from raydata_ext.remote import StorageOptions
    from raydata_ext.store.entry_files import EntryFiles
    from raydata_ext.table import MemoryMappedTable

logger = logging.getLogger(__name__)

_LOOKUP_THREADS = 16

_PATIENCE_SECONDS = 0.02
_SLOW_SECONDS = 0.0005
"""Where lookups take longer than these, at all and for each key, most of the time goes to waiting for a network."""


@dataclass(frozen=True)
class Store:
    """Computed shards by key; made by `Store.open`. Can be pickled and used from many processes at once.

    Args:
        files: Where the files of the entries are.
    """

    files: EntryFiles

    @classmethod
    def open(
        cls,
        url_or_path: str | os.PathLike[str],
        *,
        sync: bool = False,
        local_dir: str | os.PathLike[str] | None = None,
        max_local_bytes: int | None = None,
        storage_options: StorageOptions | None = None,
        retries: Retries | None = None,
    ) -> Store:
        """Open a store; nothing is read or written yet.

        Args:
            url_or_path: A directory, which need not exist, or an fsspec URL.
            sync: Whether publication waits until the entry is on the disk. Without it an entry can be lost or damaged
                when the machine loses power, which receipt and checksum reveal. Of no effect on a URL.
            local_dir: For a URL: where node-local copies are kept, see `NodeCache`.
            max_local_bytes: For a URL: bound of all node-local copies, see `NodeCache`.
            storage_options: For a URL: further arguments of the fsspec file system.
            retries: For a URL: how often a request is tried that fails for a passing reason.

        Raises:
            StoreError: If the path is that of a file.
        """
        root = absolute_place(url_or_path)
        if not is_url(root):
            return cls(LocalEntries(root, sync=sync))
        copies = NodeCache(None if local_dir is None else absolute_place(local_dir), max_local_bytes)
        return cls(RemoteEntries(root, copies, dict(storage_options or {}), retries or Retries()))

    def find(self, keys: Iterable[str]) -> dict[str, Receipt]:
        """Return the receipts of those keys whose results are here.

        Args:
            keys: Keys of 32 lower-case hex digits; each of their directories is listed once.

        Returns:
            Receipt by key, in the order of `keys`. Entries that are damaged are left out, with a warning in the log.

        Raises:
            ValueError: If a key is not of this form.
            StoreError: If a remote store cannot be reached.
        """
        asked = list(dict.fromkeys(keys))
        by_directory: dict[str, list[str]] = defaultdict(list)
        for key in asked:
            by_directory[entry_directory(key)].append(key)
        found = {receipt.key: receipt for part in self._find_by_directory(by_directory) for receipt in part}
        return {key: found[key] for key in asked if key in found}

    def get(self, key: str) -> Receipt | None:
        """Return the receipt of one key, or None if there is no result for it.

        Args:
            key: 32 lower-case hex digits.
        """
        return self.find([key]).get(key)

    def keys(self) -> Iterator[str]:
        """Yield the keys of all receipts, damaged ones too, in order."""
        for directory in self.files.directories():
            names = (status.name.rpartition("/")[2] for status in self.files.list_files(directory))
            yield from sorted(name[: -len(".json")] for name in names if _is_receipt_of(directory, name))

    def writing_path(self, key: str) -> str:
        """Return the local path under which the shard file of this key is to be written, before `publish`.

        The path is private to the calling thread; what is there is no result yet. The directory is made.

        Args:
            key: 32 lower-case hex digits.
        """
        return self.files.staging_path(check_key(key))

    def publish(self, receipt: Receipt, path: str | os.PathLike[str] | None = None) -> Receipt:
        """Make a written shard file and its receipt the result of its key.

        Args:
            receipt: What the file holds.
            path: The file, on the file system of `writing_path`; by default `writing_path` itself, for the thread
                that wrote it. It is moved.

        Returns:
            The receipt as published: it names the file that holds these very bytes, also where another process
            published the same key at the same time. Use it in place of the one that was given.

        Raises:
            StoreError: If there is no such file, or its size is not that of the receipt.
        """
        staged = os.fspath(path) if path is not None else self.writing_path(receipt.key)
        _check_staged(staged, receipt)
        published = dataclasses.replace(receipt, file=self.files.add_shard_file(staged, receipt))
        self.files.write_receipt(published)
        return published

    def discard(self, key: str) -> None:
        """Delete an entry, its receipt first. A key without an entry is left as it is.

        Args:
            key: 32 lower-case hex digits.
        """
        directory = entry_directory(key)
        self.files.delete(f"{directory}/{key}.json")
        for status in self.files.list_files(directory):
            name = status.name.rpartition("/")[2]
            if name.startswith(key) and name.endswith(".arrow"):
                self.files.delete(status.name)

    def remove_all(self) -> None:
        """Remove the store itself, with all that is in it; nobody else may use it then."""
        self.files.remove_all()

    def local_path(self, receipt: Receipt) -> str:
        """Return the path of the shard file on this machine.

        A remote file is copied to the local disk once. Its copy stays while this process lives, or until `release`.

        Args:
            receipt: The receipt of the entry.

        Raises:
            StoreError: If a remote file can't be read, or there is no room for its copy.
            CorruptFileError: If a remote file is not the one that the receipt describes.
        """
        return self.files.local_path(receipt)

    def release(self, receipt: Receipt) -> None:
        """Let the node-local copy go that `local_path` took; once for each of its calls.

        What is mapped from it stays readable.

        Args:
            receipt: The receipt of the entry.
        """
        self.files.release(receipt)

    def table(self, receipt: Receipt) -> MemoryMappedTable:
        """Return the shard as a table; the file is opened when rows are touched.

        A remote file is then copied to the local disk of the machine that touches them. The copy stays as long as it
        is mapped: as long as somebody holds rows, and while there is room.

        Args:
            receipt: The receipt of the entry.
        """
        return self.files.table(receipt)

    def verify(self, receipt: Receipt) -> None:
        """Read all of a shard file where it is, and compare it with its receipt.

        Args:
            receipt: The receipt of the entry.

        Raises:
            CorruptFileError: If it is damaged, or another file, or missing.
        """
        self.files.verify(receipt)

    def _find_by_directory(self, by_directory: Mapping[str, list[str]]) -> Iterator[list[Receipt]]:
        """Yield what each directory holds; several at once when it shows that answers are slow to come."""
        waiting = list(by_directory.items())
        start = time.perf_counter()
        allowed = _PATIENCE_SECONDS
        while waiting and time.perf_counter() - start < allowed:
            directory, keys = waiting.pop()
            allowed += _SLOW_SECONDS * len(keys)
            yield self._find_in(directory, keys)
        with ThreadPoolExecutor(_LOOKUP_THREADS, thread_name_prefix="lookup") as pool:
            yield from pool.map(lambda one: self._find_in(*one), waiting)

    def _find_in(self, directory: str, keys: list[str]) -> list[Receipt]:
        found = []
        texts, size_of = self.files.find_receipts(directory, keys)
        for key, text in texts.items():
            try:
                receipt = Receipt.from_json(text)
            except StoreError as error:
                self._warn(directory, key, str(error))
                continue
            size = size_of(receipt.file_name)
            if receipt.key != key:
                self._warn(directory, key, f"it is the receipt of {receipt.key}")
            elif size is None:
                self._warn(directory, key, f"its file {receipt.file_name} is missing")
            elif size != receipt.num_bytes:
                self._warn(directory, key, f"its file {receipt.file_name} has {size} bytes, not {receipt.num_bytes}")
            else:
                found.append(receipt)
        return found

    def _warn(self, directory: str, key: str, problem: str) -> None:
        place = redacted(f"{self.files.root}/{directory}/{key}.json")
        logger.warning("cache entry %s is not used and will be computed again: %s", place, problem)


def _is_receipt_of(directory: str, name: str) -> bool:
    key, dot, suffix = name.partition(".")
    try:
        return dot + suffix == ".json" and entry_directory(key) == directory
    except ValueError:
        return False


def _check_staged(path: str, receipt: Receipt) -> None:
    try:
        size = Path(path).stat().st_size
    except FileNotFoundError as error:
        raise StoreError(f"{path}: no shard file to publish for key {receipt.key}; write it there first") from error
    if size != receipt.num_bytes:
        raise StoreError(f"{path}: has {size} bytes, but its receipt says {receipt.num_bytes}; write it again")
