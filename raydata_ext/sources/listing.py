"""Paths, directories and glob patterns, on any file system that fsspec knows, to a list of files."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from raydata_ext.errors import NoMatchError
from raydata_ext.remote import is_url, without_local_scheme
from raydata_ext.sources.local_files import LocalFiles
from raydata_ext.sources.path_list import expand_path
from raydata_ext.sources.remote_files import RemoteFiles
from raydata_ext.sources.saved_dataset import data_files

if TYPE_CHECKING:
    from raydata_ext.remote import StorageOptions
    from raydata_ext.sources.input_file import InputFile

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def list_files(
    paths: Paths, *, exclude: Sequence[str] = (), storage_options: StorageOptions | None = None
) -> tuple[InputFile, ...]:
    """List the files of a source: paths in the order given, the files of each sorted by path, every file once.

    A path that exists is taken as it stands, even where it could be read as a pattern. A directory that `save_to_disk`
    wrote stands for the files that its `state.json` names, in that order. A file's name is its path relative to the
    directory, or to the part of the pattern before the first wildcard; the names of files that are given one by one are
    relative to the deepest directory that holds all of these.

    Args:
        paths: one or more files, directories (read recursively, names that begin with `.` or `_` left out) or glob
            patterns (as in the shell: a part `**` stands for any number of directories, and a wildcard does not match a
            leading `.`); local or any fsspec URL. `@list.txt` stands for the paths in a file, see `expand_path`.
        exclude: shell patterns of names, in which `*` also matches `/`; files that match are left out. `*/tmp/*` leaves
            out `tmp/a.txt` too. A pattern that begins with `/` or holds `://` is one of whole paths.
        storage_options: further arguments of the file systems of URLs.

    Raises:
        NoMatchError: a path or pattern stands for no file, or for a `DatasetDict`; the message names it and the nearest
            directory that exists, or the splits.
        ReadError: what is under a URL cannot be listed.
        OSError: a directory cannot be read.
        ValueError: there is no path.
    """
    given = [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    if not given:
        raise ValueError("paths is empty: give at least one path, directory or glob pattern")
    plain = [without_local_scheme(path) for one in given for path in expand_path(one, storage_options)]
    places = [RemoteFiles(path, storage_options) if is_url(path) else LocalFiles(path) for path in plain]
    single = _common_directory([place.paths[0] for place in places if place.root is None])
    files: dict[str, InputFile] = {}
    for place in places:
        root = single if place.root is None else place.root
        names = {path: path[len(root) :].lstrip("/") for path in data_files(place)}
        found = {path: name for path, name in names.items() if not _is_excluded(path, name, exclude)}
        if not found:
            raise NoMatchError(_explain_no_match(place, exclude))
        for path, name in found.items():
            if path not in files:
                files[path] = place.input_file(path, name)
    return tuple(files.values())


def _common_directory(paths: Sequence[str]) -> str:
    parents = [path.split("/")[:-1] for path in paths]
    shared = takewhile(lambda parts: len(set(parts)) == 1, zip(*parents, strict=False))
    return "/".join(parts[0] for parts in shared)


def _is_excluded(path: str, name: str, exclude: Sequence[str]) -> bool:
    for pattern in exclude:
        of_paths = pattern.startswith("/") or "://" in pattern
        if any(fnmatch.fnmatchcase(text, pattern) for text in ([path] if of_paths else [name, f"/{name}"])):
            return True
    return False


def _explain_no_match(place: LocalFiles | RemoteFiles, exclude: Sequence[str]) -> str:
    message = f"no file matches {place.given!r}"
    if place.paths:
        return f"{message}: the {len(place.paths)} that do are all excluded by {list(exclude)}"
    nearest = place.nearest_directory()
    if nearest is not None:
        message += f"; the nearest directory that exists is {nearest[0]!r} ({nearest[1]} entries)"
    return message + "; check the path, and that `**` is used to reach into sub-directories"
