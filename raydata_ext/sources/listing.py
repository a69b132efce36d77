"""Paths, directories and glob patterns, on any file system that fsspec knows, to a sorted list of files."""

from __future__ import annotations

import fnmatch
import os
import posixpath
from collections.abc import Iterable, Sequence
from typing import Any

import fsspec
from fsspec.core import has_magic

from raydata_ext.errors import NoMatchError
from raydata_ext.sources.input_file import InputFile

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def list_files(paths: Paths, *, exclude: Sequence[str] = ()) -> tuple[InputFile, ...]:
    """List the files of a source: patterns in the order given, the files of each sorted by name, every file once.

    Args:
        paths: one or more paths, directories (read recursively, names that begin with `.` or `_` left out) or glob
            patterns (`**` stands for any number of directories); local or any fsspec URL.
        exclude: shell patterns over the whole path, in which `*` also matches `/`; files that match are left out.

    Raises:
        NoMatchError: a pattern matches no file; the message names it and the nearest directory that exists.
    """
    patterns = [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    if not patterns:
        raise ValueError("paths is empty: give at least one path, directory or glob pattern")
    files: dict[str, InputFile] = {}
    for pattern in patterns:
        found = [file for file in _list_pattern(pattern) if not _is_excluded(file.path, exclude)]
        if not found:
            raise NoMatchError(_explain_no_match(pattern, exclude))
        for file in sorted(found, key=lambda file: file.name):
            files.setdefault(file.path, file)
    return tuple(files.values())


def _list_pattern(pattern: str) -> Iterable[InputFile]:
    fs, path = fsspec.core.url_to_fs(pattern)
    if has_magic(path):
        root = _fixed_part(path)
        infos = list(fs.glob(path, detail=True).values())
    elif fs.isdir(path):
        root = path.rstrip("/")
        infos = [info for info in fs.find(path, detail=True).values() if not _is_hidden(info["name"], root)]
    elif fs.exists(path):
        root = posixpath.dirname(path)
        infos = [fs.info(path)]
    else:
        return
    for info in infos:
        if info["type"] == "file":
            yield _input_file(fs, info, root)


def _input_file(fs: Any, info: dict[str, Any], root: str) -> InputFile:
    name = posixpath.relpath(info["name"], root) if root else info["name"]
    if "file" in fs.protocol:
        stat = os.stat(info["name"])
        return InputFile(info["name"], name, stat.st_size, f"{stat.st_mtime_ns}:{stat.st_ino}")
    return InputFile(fs.unstrip_protocol(info["name"]), name, int(info["size"]), _object_version(info))


def _object_version(info: dict[str, Any]) -> str:
    for key in ("ETag", "etag", "md5Hash", "crc32c", "checksum"):
        if info.get(key):
            return f"etag:{info[key]}"
    changed = info.get("mtime") or info.get("LastModified") or info.get("created")
    return f"changed:{changed}" if changed else ""


def _fixed_part(pattern: str) -> str:
    """The leading directories of a glob pattern that hold no magic."""
    parts = pattern.split("/")
    fixed = next(i for i, part in enumerate(parts) if has_magic(part))
    return "/".join(parts[:fixed]) or ("/" if pattern.startswith("/") else "")


def _is_hidden(path: str, root: str) -> bool:
    return any(part.startswith((".", "_")) for part in posixpath.relpath(path, root).split("/"))


def _is_excluded(path: str, exclude: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in exclude)


def _explain_no_match(pattern: str, exclude: Sequence[str]) -> str:
    fs, path = fsspec.core.url_to_fs(pattern)
    parent = _fixed_part(path) if has_magic(path) else posixpath.dirname(path)
    while parent and parent != "/" and not fs.exists(parent):
        parent = posixpath.dirname(parent)
    message = f"no file matches {pattern!r}"
    if exclude:
        message += f" once {list(exclude)} are excluded"
    if parent and fs.exists(parent):
        count = len(fs.ls(parent, detail=False))
        message += f"; the nearest directory that exists is {parent!r} ({count} entries)"
    return message + "; check the path, and that `**` is used to reach into sub-directories"
