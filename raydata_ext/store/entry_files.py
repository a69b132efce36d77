"""What a store asks of the place where its files are: a directory on a file system, or a prefix of an object store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from raydata_ext.store.receipt import Receipt
    from raydata_ext.table import MemoryMappedTable


@dataclass(frozen=True)
class FileStatus:
    """One file of a store.

    Args:
        name: Name relative to the root of the store: `directory/name`.
        num_bytes: Size.
        modified: Unix time in seconds of the last change; infinity where the place does not tell.
    """

    name: str
    num_bytes: int
    modified: float


class FoundReceipts(NamedTuple):
    """The answer to one lookup in a directory.

    Args:
        texts: The receipts that exist, by key.
        size_of: Gives the size in bytes of a file of the directory by its name, or None if there is none.
    """

    texts: dict[str, bytes]
    size_of: Callable[[str], int | None]


class EntryFiles(Protocol):
    """The files of a store, in one directory for each two first hex digits of a key.

    Names are relative to the root of the store: `directory/name`.
    """

    @property
    def root(self) -> str:
        """Path or URL of the store."""

    def directories(self) -> list[str]:
        """Return the directories that exist, sorted."""

    def list_files(self, directory: str) -> list[FileStatus]:
        """Return all files of a directory, temporary ones too."""

    def status(self, name: str) -> FileStatus | None:
        """Return what is known of a file, or None if there is none."""

    def files_in_use(self) -> set[str]:
        """Return the files that processes of this machine have mapped."""

    def find_receipts(self, directory: str, keys: Iterable[str], *, mark_used: bool = True) -> FoundReceipts:
        """Look up keys of one directory, and note that their receipts were used, where the place can keep that."""

    def staging_path(self, key: str) -> str:
        """Return the local path, private to this thread, under which the shard file of an entry is to be written."""

    def add_shard_file(self, staged: str, receipt: Receipt) -> str:
        """Move a staged file into the store, never over other bytes, and return the name it got in its directory."""

    def write_receipt(self, receipt: Receipt) -> None:
        """Write the receipt; it replaces an older one at once."""

    def local_path(self, receipt: Receipt) -> str:
        """Return a local path of the shard file, which stays valid until `release`."""

    def release(self, receipt: Receipt) -> None:
        """Say that a path that `local_path` gave is no longer needed."""

    def table(self, receipt: Receipt) -> MemoryMappedTable:
        """Return the shard as a table; no file is touched before its rows are."""

    def verify(self, receipt: Receipt) -> None:
        """Read all of the shard file and compare it with the receipt."""

    def delete(self, name: str) -> None:
        """Delete a file; one that is not there is none to delete."""

    def remove_all(self) -> None:
        """Remove the root with all that is in it."""
