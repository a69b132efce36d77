"""Whole files to and from URLs: one has arrived when all of its bytes have."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, BinaryIO

import xxhash

from raydata_ext.errors import StoreError
from raydata_ext.remote import ResumingStream, find_file_system

if TYPE_CHECKING:
    from pathlib import Path

    from raydata_ext.remote import Retries, StorageOptions

_BLOCK_BYTES = 8 << 20
_OBJECT_STORES = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "oci", "cos", "tos"})


def download(url: str, target: BinaryIO, num_bytes: int | None, options: StorageOptions, retries: Retries) -> None:
    """Copy a file to this machine, going on where the connection breaks off.

    Args:
        url: The file.
        target: What is written to.
        num_bytes: Size of the file; None if not known.
        options: Of the file system.
        retries: How often each part is tried.

    Raises:
        StoreError: If it cannot be read.
        FileNotFoundError: If there is no such file.
    """
    with _opened(url, num_bytes, options, retries) as stream:
        while block := stream.read(_BLOCK_BYTES):
            target.write(block)


def remote_checksum(url: str, num_bytes: int | None, options: StorageOptions, retries: Retries) -> str:
    """Return the xxh3-128 of a file, read where it is; see `download`."""
    digest = xxhash.xxh3_128()
    with _opened(url, num_bytes, options, retries) as stream:
        while block := stream.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def upload(source: Path, url: str, options: StorageOptions, retries: Retries) -> None:
    """Copy a file of this machine to a URL, where it appears complete.

    Args:
        source: The file.
        url: Where it goes; one that is there is replaced.
        options: Of the file system.
        retries: How often it is tried.

    Raises:
        StoreError: If it cannot be written, or there is no such bucket.
    """
    file_system, path = find_file_system(url, options)
    num_bytes = source.stat().st_size

    def put() -> None:
        if not has_no_directories(file_system):
            file_system.makedirs(path.rpartition("/")[0], exist_ok=True)
        file_system.put_file(str(source), path)
        size = file_system.info(path)["size"]
        if size != num_bytes:
            raise ConnectionError(f"{size} of {num_bytes} bytes arrived")

    try:
        retries.run(f"writing {url}", put)
    except FileNotFoundError as error:
        raise StoreError(f"writing {url}: {error}; make the bucket first, or correct the URL") from error


def has_no_directories(file_system: Any) -> bool:
    """Whether files can be written anywhere, and to make directories would mean to make a missing bucket."""
    protocols = file_system.protocol
    return not _OBJECT_STORES.isdisjoint([protocols] if isinstance(protocols, str) else protocols)


def _opened(url: str, num_bytes: int | None, options: StorageOptions, retries: Retries) -> ResumingStream:
    file_system, path = find_file_system(url, options)

    def open_file() -> IO[bytes]:
        file_system.invalidate_cache(path.rpartition("/")[0])  # of listings, from before others wrote the file
        file: IO[bytes] = file_system.open(path, "rb", block_size=_BLOCK_BYTES)
        return file

    return ResumingStream(url, open_file, num_bytes, StoreError, retries)
