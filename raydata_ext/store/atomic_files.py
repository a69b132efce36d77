"""Small files that appear under their name complete or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from raydata_ext.errors import WriteError
from raydata_ext.table.ipc_writer import temporary_name


def write_file_atomically(path: str | os.PathLike[str], content: bytes, *, sync: bool = False) -> None:
    """Write a file under a temporary name beside its own, then rename it.

    Args:
        path: Where the file shall stand; one that is there is replaced.
        content: All of the file.
        sync: Whether to wait until file and directory are on the disk.

    Raises:
        WriteError: If it cannot be written; nothing is left behind.
    """
    temporary = temporary_name(path)
    try:
        with temporary.open("xb") as file:
            file.write(content)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise WriteError(
            error.errno, f"cannot write ({error.strerror}); free space or check the disk and try again", str(path)
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
    if sync:
        sync_path(Path(path).parent)


def sync_path(path: str | os.PathLike[str]) -> None:
    """Wait until a file's content, or a directory's list of names, is on the disk.

    Args:
        path: An existing file or directory.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
