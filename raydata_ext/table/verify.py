"""Check an Arrow IPC file to the last byte."""

from __future__ import annotations

import os
from pathlib import Path

import xxhash

from raydata_ext.errors import CorruptFileError
from raydata_ext.table.ipc_reader import iter_ipc_batches, read_ipc_schema
from raydata_ext.table.ipc_writer import FileSummary

_CHUNK_BYTES = 256 << 10


def verify_ipc_file(
    path: str | os.PathLike[str], *, checksum: str | None = None, num_bytes: int | None = None
) -> FileSummary:
    """Read a whole Arrow IPC file and check it: size, checksum, structure, every offset, every string's UTF-8.

    A file that passes can be read value by value without harm. Memory stays bounded by one record batch.

    Args:
        path: a local file, of stream or file format.
        checksum: expected xxh3-128 of the file, 32 hexadecimal digits; None to accept any.
        num_bytes: expected size in bytes; None to accept any.

    Returns:
        What the file holds.

    Raises:
        CorruptFileError: the file is damaged, or not the one expected.
        FileNotFoundError: there is no such file.
    """
    name = os.fspath(path)
    size = Path(path).stat().st_size
    if num_bytes is not None and size != num_bytes:
        raise CorruptFileError(
            f"{name}: has {size} bytes, {num_bytes} were expected; remove it and make or copy it again"
        )
    found = checksum_file(path)
    if checksum is not None and found != checksum:
        raise CorruptFileError(
            f"{name}: its checksum is {found}, {checksum} was expected: it was damaged or replaced; "
            "remove it and make or copy it again"
        )
    rows = batches = 0
    for batch in iter_ipc_batches(path):
        try:
            batch.validate(full=True)
        except ValueError as error:
            raise CorruptFileError(
                f"{name}: batch {batches} (rows {rows} to {rows + batch.num_rows}) holds damaged values: {error}; "
                "remove it and make or copy it again"
            ) from error
        rows += batch.num_rows
        batches += 1
    return FileSummary(rows, batches, size, found, read_ipc_schema(path))


def checksum_file(path: str | os.PathLike[str], start: int = 0, end: int | None = None) -> str:
    """Return the xxh3-128 of the bytes [start, end) of a file as 32 hexadecimal digits, in bounded memory.

    Args:
        path: a local file.
        start: first byte.
        end: byte to stop before; None for the end of the file.

    Raises:
        CorruptFileError: the file ends before `end`.
    """
    digest = xxhash.xxh3_128()
    left = None if end is None else end - start
    buffer = memoryview(bytearray(_CHUNK_BYTES))
    with Path(path).open("rb", buffering=0) as file:
        file.seek(start)
        while left is None or left > 0:
            count = file.readinto(buffer if left is None else buffer[: min(left, _CHUNK_BYTES)])
            if not count:
                break
            digest.update(buffer[:count])
            left = None if left is None else left - count
    if left:
        raise CorruptFileError(f"{os.fspath(path)}: ends {left} bytes before byte {end}; make or copy it again")
    return digest.hexdigest()
