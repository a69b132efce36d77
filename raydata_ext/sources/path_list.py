"""Files that list paths: `@corpus/files.txt` stands for the paths, patterns and URLs in it, one a line."""

from __future__ import annotations

import posixpath
from pathlib import Path

from raydata_ext.errors import NoMatchError, ReadError
from raydata_ext.remote import Retries, StorageOptions, find_file_system, is_url

MARK = "@"


def expand_path(path: str, storage_options: StorageOptions | None = None) -> list[str]:
    """A path itself, or the paths in the list that it names.

    In a list, blank lines and those that begin with `#` are left out, and a path that is neither absolute nor a URL is
    relative to the directory of the list.

    Args:
        path: a list is one that begins with `@`, unless there is a file of that name.
        storage_options: further arguments of the file system of a list under a URL.

    Raises:
        NoMatchError: the list cannot be read, or holds no path.
    """
    if not path.startswith(MARK) or Path(path).exists():
        return [path]
    name = path.removeprefix(MARK)
    try:
        file_system, at = find_file_system(name, storage_options)
        content = Retries().run(f"reading {name}", lambda: file_system.cat_file(at), ReadError)
        lines = [line.rstrip("\r") for line in content.decode("utf8").split("\n")]
    except (ReadError, OSError, ValueError) as error:
        raise NoMatchError(f"the list of paths {name!r} cannot be read ({error})") from error
    paths = [line for line in lines if line.strip() and not line.startswith("#")]
    if not paths:
        raise NoMatchError(f"the list of paths {name!r} holds no path")
    directory = posixpath.dirname(name)
    return [one if is_url(one) or one.startswith(("/", "~")) else posixpath.join(directory, one) for one in paths]
