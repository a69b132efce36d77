"""The shard files of a dataset directory as tables, which are mapped, or copied and mapped, when rows are touched."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import xxhash

from raydata_ext.store.directory_files import RemoteDirectory
from raydata_ext.store.remote_file import RemoteFile
from raydata_ext.table.memory_mapped import MemoryMappedTable
from raydata_ext.table.verify import checksum_file

if TYPE_CHECKING:
    from raydata_ext.store.dataset_directory import DatasetDirectory
    from raydata_ext.store.manifest import ShardFile
    from raydata_ext.store.node_cache import NodeCache

_THREADS = 4


class ShardTable(NamedTuple):
    """One shard file as a table.

    Args:
        table: Its rows.
        checksum: xxh3-128 of the file, 32 hex digits; None of a file of this machine where it was not recorded.
    """

    table: MemoryMappedTable
    checksum: str | None


def open_tables(directory: DatasetDirectory, copies: NodeCache) -> list[ShardTable]:
    """Return the shard files in the order of their rows.

    No file is opened where a manifest tells rows and schema. Else each is opened once; one under a URL is copied for
    that, and may make room for the next.

    Args:
        directory: What `read_dataset_directory` found.
        copies: Where copies of files under a URL are kept.

    Raises:
        StoreError: If a file under a URL can't be read, or there is no room for a copy.
        CorruptFileError: If a file is opened and is no whole Arrow file.
    """
    place = directory.place
    if not isinstance(place, RemoteDirectory):
        return [_local_table(directory, file) for file in directory.files]
    if all(file.checksum is not None for file in directory.files):
        return [_told_table(directory, place, file, copies) for file in directory.files]
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="open") as pool:
        return list(pool.map(lambda file: _read_table(place, file, copies), directory.files))


def _local_table(directory: DatasetDirectory, file: ShardFile) -> ShardTable:
    table = MemoryMappedTable.from_file(
        directory.file_path(file), schema=directory.schema, num_rows=file.rows, num_bytes=file.num_bytes
    )
    return ShardTable(table, file.checksum)


def _told_table(directory: DatasetDirectory, place: RemoteDirectory, file: ShardFile, copies: NodeCache) -> ShardTable:
    """A file under a URL of which a manifest tells everything."""
    origin = _origin(place, file, f"{file.checksum}.arrow", copies)
    table = MemoryMappedTable.from_file(
        origin.url, schema=directory.schema, num_rows=file.rows, num_bytes=file.num_bytes, origin=origin
    )
    return ShardTable(table, file.checksum)


def _read_table(place: RemoteDirectory, file: ShardFile, copies: NodeCache) -> ShardTable:
    """A file under a URL of which only the size is known; its copy is named after the version of the file."""
    version = place.version(file.name) or secrets.token_hex(16)  # where none is told, no copy is found again
    identity = xxhash.xxh3_128_hexdigest(f"{place.path}/{file.name}:{file.num_bytes}:{version}".encode())
    origin = _origin(place, file, f"{identity}.arrow", copies)
    table = MemoryMappedTable.from_file(origin.url, origin=origin)
    path = origin.hold()
    try:
        checksum = checksum_file(path)
    finally:
        origin.release()
    told = MemoryMappedTable.from_file(
        origin.url,
        schema=table.schema,
        num_rows=table.num_rows,
        num_bytes=file.num_bytes,
        origin=replace(origin, checksum=checksum),
    )
    return ShardTable(told, checksum)


def _origin(place: RemoteDirectory, file: ShardFile, copy_name: str, copies: NodeCache) -> RemoteFile:
    return RemoteFile(
        f"{place.path}/{file.name}",
        copy_name,
        file.num_bytes,
        file.checksum,
        copies,
        place.storage_options,
        place.retries,
    )
