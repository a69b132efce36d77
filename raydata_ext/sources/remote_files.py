"""The files that a URL, directory or pattern on a remote file system stands for, through fsspec."""

from __future__ import annotations

import datetime as dt
import glob
import posixpath
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import fsspec

from raydata_ext.errors import ReadError
from raydata_ext.sources.input_file import ETAG, InputFile
from raydata_ext.sources.local_files import LEFT_OUT_OF_DIRECTORIES, fixed_part

if TYPE_CHECKING:
    from collections.abc import Mapping

_CHECKSUM_KEYS = ("md5Hash", "crc32c", "checksum", "blob_id", "ETag", "etag")
_TIME_KEYS = ("mtime", "LastModified", "last_modified", "updated", "created")


@dataclass
class RemoteFiles:
    """The files that one URL stands for.

    Args:
        given: a URL that fsspec knows; its path may be a pattern.

    Attributes:
        root: URL of the directory that names are relative to; None where the URL is that of a file.
        paths: URLs of the files, sorted.
    """

    given: str
    root: str | None = field(init=False)
    paths: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self._fs, self._path = fsspec.core.url_to_fs(self.given)
        self._fs.invalidate_cache()  # it holds listings of earlier calls
        try:
            root, infos = self._find()
        except Exception as error:
            raise ReadError(
                f"{self.given}: cannot be listed ({type(error).__name__}: {error}); check the URL, the network and the"
                " credentials"
            ) from error
        self._infos = {self._fs.unstrip_protocol(info["name"]): info for info in infos if info["type"] == "file"}
        self.root = None if root is None else self._fs.unstrip_protocol(root)
        self.paths = sorted(self._infos)

    def input_file(self, path: str, name: str) -> InputFile:
        """One of the files as it was listed."""
        info = self._infos[path]
        return InputFile(path, name, int(info["size"] or 0), _version(info))

    def nearest_directory(self) -> tuple[str, int] | None:
        """The deepest directory on the way to the path that exists, and how many entries it has."""
        directory = self._path
        while directory.strip("/"):
            if self._fs.isdir(directory):
                return self._fs.unstrip_protocol(directory), len(self._fs.ls(directory, detail=False))
            directory = posixpath.dirname(directory)
        return None

    def _find(self) -> tuple[str | None, list[dict[str, Any]]]:
        fs, path = self._fs, self._path
        if fs.isfile(path):
            return None, [fs.info(path)]
        if fs.isdir(path):
            infos = fs.find(path, detail=True).values()
            return path, [info for info in infos if not _is_hidden(info, path, LEFT_OUT_OF_DIRECTORIES)]
        root, pattern = fixed_part(path)
        if not glob.has_magic(pattern):
            return root, []
        hidden = () if pattern.startswith(".") or "/." in pattern else (".",)
        infos = fs.glob(path, detail=True).values()
        return root, [info for info in infos if not _is_hidden(info, root, hidden)]


def _is_hidden(info: Mapping[str, Any], root: str, prefixes: tuple[str, ...]) -> bool:
    name = info["name"][len(root) :].lstrip("/")
    return any(part.startswith(prefixes) for part in name.split("/"))


def _version(info: Mapping[str, Any]) -> str:
    """The checksum or strong entity tag that the store gives, else when it says the file was written."""
    for key in _CHECKSUM_KEYS:
        if info.get(key) and not str(info[key]).startswith("W/"):
            return f"{ETAG}{key}:{info[key]}"
    changed = next((info[key] for key in _TIME_KEYS if info.get(key)), None)
    if isinstance(changed, dt.datetime):
        changed = changed.timestamp()
    return f"{int(changed * 1e9)}:" if isinstance(changed, int | float) else ""
