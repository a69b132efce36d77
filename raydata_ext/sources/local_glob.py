"""Glob patterns over local directories, as the shell reads them.

Not `glob` of the standard library, which passes over directories that cannot be read and follows links in circles; a
corpus must be neither short nor double because of that.
"""

from __future__ import annotations

import fnmatch
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    _Matcher = Callable[[str], re.Match[str] | None]


def local_glob(root: str, pattern: str, hidden: tuple[str, ...] = (".",)) -> Iterator[str]:
    """Paths of the files (and broken links) below `root` that match: each once, in no order.

    A directory is read once, however many parts of the pattern its names may match.

    Args:
        root: a directory.
        pattern: relative to `root`. `*`, `?` and `[...]` match within a name, a part `**` any number of directories,
            links to directories included.
        hidden: names that begin so match only a part of the pattern that begins so too.

    Raises:
        OSError: a directory cannot be read.
    """
    names: list[_Matcher] = []
    deep: set[int] = set()
    for part in pattern.split("/"):
        if part == "**":
            deep.add(len(names))
        elif part:
            names.append(_matcher(part, hidden))
    if len(names) in deep:
        names.append(_matcher("*", hidden))
    yield from _walk(root, names, deep, _matcher("*", hidden))


def _walk(root: str, names: Sequence[_Matcher], deep: set[int], visible: _Matcher) -> Iterator[str]:
    """The paths that match.

    Args:
        root: a directory.
        names: what names on the way to a file must match, one after the other; the last one is the file's own.
        deep: numbers of those that are looked for at any depth, since a `**` comes before them.
        visible: what directories in place of a `**` must match.
    """
    last = len(names) - 1
    pending = [(root, {0}, frozenset([_id(Path(root).stat())]))]
    while pending:
        directory, awaited, above = pending.pop()
        anywhere = awaited & deep
        for entry in _entries(directory):
            found = [number for number in awaited if names[number](entry.name)]
            if last in found and (entry.is_file() or (entry.is_symlink() and not entry.is_dir())):
                yield entry.path
            below = {number + 1 for number in found if number != last}
            stays = anywhere and visible(entry.name)
            if (below or stays) and entry.is_dir():
                own = _id(entry.stat())
                if stays and own not in above:  # no `**` goes round in a circle of links
                    below |= anywhere
                if below:
                    pending.append((entry.path, below, above | {own}))


def _entries(directory: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(directory) as entries:
        yield from entries


def _matcher(part: str, hidden: tuple[str, ...]) -> _Matcher:
    """Says whether a name matches a part of a pattern."""
    shown = "".join(f"(?!{re.escape(prefix)})" for prefix in hidden if not part.startswith(prefix))
    return re.compile(shown + fnmatch.translate(part)).match


def _id(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_dev, stat.st_ino
