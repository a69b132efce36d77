"""Files that list paths: `@corpus/files.txt` stands for the paths, patterns and URLs in it, one a line."""

from __future__ import annotations

import posixpath
from pathlib import Path

import fsspec

from raydata_ext.errors import NoMatchError

MARK = "@"


def expand_path(path: str) -> list[str]:
    """A path itself, or the paths in the list that it names.

    In a list, blank lines and those that begin with `#` are left out, and a path that is neither absolute nor a URL is
    relative to the directory of the list.

    Args:
        path: a list is one that begins with `@`, unless there is a file of that name.

    Raises:
        NoMatchError: the list cannot be read, or holds no path.
    """
    if not path.startswith(MARK) or Path(path).exists():
        return [path]
    name = path.removeprefix(MARK)
    try:
        with fsspec.open(name, "rt", encoding="utf8") as stream:
            lines = [line.rstrip("\r") for line in stream.read().split("\n")]
    except (OSError, ValueError) as error:
        raise NoMatchError(f"the list of paths {name!r} cannot be read ({error})") from error
    paths = [line for line in lines if line.strip() and not line.startswith("#")]
    if not paths:
        raise NoMatchError(f"the list of paths {name!r} holds no path")
    directory = posixpath.dirname(name)
    return [one if "://" in one or one.startswith(("/", "~")) else posixpath.join(directory, one) for one in paths]
