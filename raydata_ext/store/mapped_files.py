"""Which files the processes of this machine have mapped right now."""

from __future__ import annotations

import contextlib
from pathlib import Path

_PATH_COLUMN = 5


def mapped_files(root: str | Path) -> set[str]:
    """Return the files below a directory that a process of this machine has mapped.

    Args:
        root: A directory.

    Returns:
        Paths relative to `root`. Processes of other users are seen only by the superuser, and those of other machines
        by nobody; where the system has no `/proc` the answer is empty.
    """
    prefix = f"{Path(root).resolve()}/".encode()
    found: set[bytes] = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):  # ended meanwhile, or another user's
            found.update(_paths_below(prefix, maps.read_bytes()))
    return {path.decode(errors="surrogateescape") for path in found}


def _paths_below(prefix: bytes, maps: bytes) -> set[bytes]:
    if prefix not in maps:
        return set()
    lines = (line.split(maxsplit=_PATH_COLUMN) for line in maps.splitlines())
    paths = (columns[_PATH_COLUMN] for columns in lines if len(columns) > _PATH_COLUMN)
    return {path[len(prefix) :] for path in paths if path.startswith(prefix)}
