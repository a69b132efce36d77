"""Paths, directories and glob patterns, on any file system that fsspec knows, to a list of files."""

from __future__ import annotations

import datetime
import fnmatch
import glob
import os
import posixpath
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from raydata_ext.errors import NoMatchError
from raydata_ext.sources.input_file import ETAG, InputFile
from raydata_ext.sources.local_glob import local_glob

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

_LEFT_OUT_OF_DIRECTORIES = (".", "_")
_CHECKSUM_KEYS = ("md5Hash", "crc32c", "checksum", "blob_id", "ETag", "etag")
_TIME_KEYS = ("mtime", "LastModified", "last_modified", "updated", "created")


def list_files(paths: Paths, *, exclude: Sequence[str] = ()) -> tuple[InputFile, ...]:
    """List the files of a source: paths in the order given, the files of each sorted by name, every file once.

    A path that exists is taken as it stands, even where it could be read as a pattern. A file's name is its path relative
    to the directory, or to the part of the pattern before the first wildcard; the names of files that are given one by one
    are relative to the deepest directory that holds all of these.

    Args:
        paths: one or more files, directories (read recursively, names that begin with `.` or `_` left out) or glob
            patterns (as in the shell: `**` stands for any number of directories, and a wildcard does not match a leading
            `.`); local or any fsspec URL.
        exclude: shell patterns of whole paths, in which `*` also matches `/`; files that match are left out.

    Raises:
        NoMatchError: a path or pattern stands for no file; the message names it and the nearest directory that exists.
        OSError: a directory cannot be read.
        ValueError: there is no path.
    """
    patterns = [os.fsdecode(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    if not patterns:
        raise ValueError("paths is empty: give at least one path, directory or glob pattern")
    places = [_Place.of(pattern) for pattern in patterns]
    matches = [place.match() for place in places]
    shared = _common_directory([paths[0] for root, paths in matches if root is None])
    files: dict[str, InputFile] = {}
    for place, (root, found) in zip(places, matches, strict=True):
        kept = [path for path in found if not _is_excluded(path, exclude)]
        if not kept:
            raise NoMatchError(place.explain_no_match(exclude))
        base = (shared if root is None else root).rstrip("/")
        for path in sorted(kept):
            name = path[len(base) :].lstrip("/")
            files.setdefault(path, place.input_file(path, name))
    return tuple(files.values())
