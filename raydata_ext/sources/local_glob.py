"""Glob patterns over local directories, as the shell reads them.

Not `glob` of the standard library, which passes over directories that cannot be read and follows links in circles; a
corpus must be neither short nor double because of that.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_Ids = frozenset[tuple[int, int]]


def local_glob(root: str, pattern: str, hidden: tuple[str, ...] = (".",)) -> Iterator[str]:
    """Paths of the files (and broken links) below `root` that match, in no order, perhaps repeatedly.

    Args:
        root: a directory.
        pattern: relative to `root`. `*`, `?` and `[...]` match within a name, a part `**` any number of directories,
            links to directories included.
        hidden: names that begin so match only a part of the pattern that begins so too.

    Raises:
        OSError: a directory cannot be read.
    """
    parts = [part for part in pattern.split("/") if part]
    if parts[-1] == "**":
        parts.append("*")
    root_stat = Path(root).stat()
    yield from _matches(root, parts, hidden, frozenset([(root_stat.st_dev, root_stat.st_ino)]))


def _matches(directory: str, parts: Sequence[str], hidden: tuple[str, ...], above: _Ids) -> Iterator[str]:
    head, rest = parts[0], parts[1:]
    if head == "**":
        yield from _matches(directory, rest, hidden, above)
        for below, ids in _directories(directory, "*", hidden, above):
            if ids != above:
                yield from _matches(below, parts, hidden, ids)
    elif rest:
        for below, ids in _directories(directory, head, hidden, above):
            yield from _matches(below, rest, hidden, ids)
    else:
        for entry in _entries(directory, head, hidden):
            if entry.is_file() or (entry.is_symlink() and not entry.is_dir()):
                yield entry.path


def _directories(directory: str, pattern: str, hidden: tuple[str, ...], above: _Ids) -> Iterator[tuple[str, _Ids]]:
    for entry in _entries(directory, pattern, hidden):
        if entry.is_dir():
            stat = entry.stat()
            yield entry.path, above | {(stat.st_dev, stat.st_ino)}


def _entries(directory: str, pattern: str, hidden: tuple[str, ...]) -> Iterator[os.DirEntry[str]]:
    shown = tuple(prefix for prefix in hidden if not pattern.startswith(prefix))
    matches = re.compile(fnmatch.translate(pattern)).match if glob.has_magic(pattern) else pattern.__eq__
    with os.scandir(directory) as entries:
        for entry in entries:
            if matches(entry.name) and not entry.name.startswith(shown):
                yield entry
