"""A file under a URL that is read through a copy on the disk of whatever machine reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from raydata_ext.errors import CorruptFileError, StoreError
from raydata_ext.remote import Retries, StorageOptions
from raydata_ext.store.transfer import download

if TYPE_CHECKING:
    from raydata_ext.store.node_cache import NodeCache


@dataclass(frozen=True)
class RemoteFile:
    """Where a file is and how its copies are known; a value that travels. It is a `FileOrigin` of tables.

    Args:
        url: Where it is.
        copy_name: Name of its copies; the same name always stands for the same bytes.
        num_bytes: Its size.
        checksum: xxh3-128 of the file, 32 hex digits; None where it was not recorded.
        copies: The copies of a machine.
        storage_options: Further arguments of the fsspec file system.
        retries: How often a request is tried that fails for a passing reason.
    """

    url: str
    copy_name: str
    num_bytes: int
    checksum: str | None
    copies: NodeCache
    storage_options: StorageOptions = field(default_factory=dict, repr=False)  # it may hold secrets
    retries: Retries = field(default_factory=Retries)

    def hold(self) -> str:
        """Return the path of a copy, fetched if there is none, which stays until `release`.

        Raises:
            NoRoomError: If the copies in use leave no room.
            StoreError: If the file can't be read.
            CorruptFileError: If it is another one.
        """
        try:
            return self.copies.hold(self.copy_name, self.num_bytes, self.checksum, self._download)
        except FileNotFoundError as error:
            raise StoreError(f"{self.url} was deleted since it was looked up; look it up again") from error
        except CorruptFileError as error:
            raise CorruptFileError(f"{self.url}: {error}; it was damaged or replaced: make it anew") from error

    def release(self) -> None:
        """Say that one that holds the copy needs it no longer."""
        self.copies.release(self.copy_name)

    def _download(self, target: BinaryIO) -> None:
        download(self.url, target, self.num_bytes, self.storage_options, self.retries)
