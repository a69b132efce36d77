"""Check whatever of ours is at a path or URL, to the last byte: a dataset directory, splits, a cache, an Arrow file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from raydata_ext.errors import RaydataError, StoreError
from raydata_ext.redaction import redacted
from raydata_ext.remote import Retries, StorageOptions, absolute_place, find_file_system, is_url
from raydata_ext.store.dataset_directory import verify_dataset_directory
from raydata_ext.store.directory_files import open_directory
from raydata_ext.store.huggingface_files import SPLITS_FILE, STATE_FILE, split_names
from raydata_ext.store.manifest import check_member_name
from raydata_ext.store.store import Store
from raydata_ext.store.verification import verify
from raydata_ext.table.verify import verify_ipc_file

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from contextlib import AbstractContextManager


def verify_place(path: str | os.PathLike[str], storage_options: StorageOptions | None = None) -> Iterator[str]:
    """Read everything at a place and compare it with its manifests and receipts.

    Args:
        path: a path or URL: of a dataset directory or one of splits, of a cache directory, or of an Arrow file.
        storage_options: further arguments of the file system of a URL.

    Yields:
        What is damaged, in words.

    Raises:
        StoreError: there is none of these, or it cannot be read.
    """
    place = absolute_place(path)
    if is_file(place, storage_options):
        with fetched_file(place, storage_options) as local:
            try:
                verify_ipc_file(local)
            except RaydataError as error:
                yield redacted(f"{place}: {error}") if is_url(place) else str(error)
        return
    directory = open_directory(place, storage_options)
    splits = directory.read(SPLITS_FILE)
    if splits is not None:
        for name in split_names(splits):
            yield from verify_place(f"{place}/{check_member_name(name)}", storage_options)
    elif directory.read(STATE_FILE) is not None:
        yield from (
            redacted(f"{place}/{file.name}: {problem}") for file, problem in verify_dataset_directory(directory)
        )
    else:
        store = Store.open(place, storage_options=storage_options)
        report = verify(store)
        if not report.checked and not store.files.directories():
            raise StoreError(f"{place}: there is no dataset directory, cache directory or Arrow file; check the path")
        yield from (redacted(f"{place}: {entry.key}: {entry.problem}") for entry in report.bad)


def is_file(place: str, storage_options: StorageOptions | None = None) -> bool:
    """Tell whether a file, and not a directory, is at a path or URL."""
    if not is_url(place):
        return Path(place).is_file()
    file_system, path = find_file_system(place, storage_options)
    return bool(Retries().run(f"looking at {place}", lambda: file_system.isfile(path)))


def fetched_file(place: str, storage_options: StorageOptions | None = None) -> AbstractContextManager[str]:
    """The local path of a file, or of a copy of it, for as long as the context lasts.

    Args:
        place: absolute path or URL of a file.
        storage_options: further arguments of the file system of a URL.
    """
    parent, _, name = place.rpartition("/")
    return open_directory(parent or "/", storage_options).fetched(name)
