"""The files that a URL, directory or pattern on a remote file system stands for, through fsspec."""

from __future__ import annotations

import glob
import posixpath
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from raydata_ext.errors import ReadError
from raydata_ext.redaction import redacted
from raydata_ext.remote import Retries, StorageOptions, find_file_system, find_version, may_pass
from raydata_ext.sources.input_file import ETAG, InputFile
from raydata_ext.sources.local_files import LEFT_OUT_OF_DIRECTORIES, fixed_part

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass
class RemoteFiles:
    """The files that one URL stands for.

    Args:
        given: a URL that fsspec knows; its path may be a pattern.
        storage_options: further arguments of the file system.

    Attributes:
        root: URL of the directory that names are relative to; None where the URL is that of a file.
        paths: URLs of the files, sorted.
    """

    given: str
    storage_options: StorageOptions | None = field(default=None, repr=False)  # it may hold secrets
    root: str | None = field(init=False)
    paths: list[str] = field(init=False)

    def __post_init__(self) -> None:
        try:
            self._fs, self._path = find_file_system(self.given, self.storage_options)
            root, infos = Retries().run(f"listing {self.given}", self._find, ReadError)
        except ReadError:
            raise
        except Exception as error:
            raise ReadError(
                f"{self.given}: cannot be listed ({type(error).__name__}: {error}); check the URL, the network and the"
                " credentials"
            ) from error
        self._infos = {self._url(info["name"]): info for info in infos if info["type"] == "file"}
        self.root = None if root is None else self._url(root)
        self.paths = sorted(self._infos)

    def input_file(self, path: str, name: str) -> InputFile:
        """One of the files as it was listed."""
        info = self._infos[path]
        tag, changed = find_version(info)
        version = f"{ETAG}{tag}" if tag else changed and f"{changed}:"
        return InputFile(path, name, int(info["size"] or 0), version, self.storage_options)

    def nearest_directory(self) -> tuple[str, int] | None:
        """The deepest directory on the way to the path that exists, and how many entries it has."""
        directory = self._path
        while directory.strip("/"):
            if self._fs.isdir(directory):
                return redacted(self._url(directory)), len(self._fs.ls(directory, detail=False))
            directory = posixpath.dirname(directory)
        return None

    def _url(self, path: str) -> str:
        """The URL of a path, with the user and the host where paths of the file system are without them."""
        given = self.given.rstrip("/")
        origin = given.removesuffix(self._path.rstrip("/")) if given.endswith(self._path.rstrip("/")) else ""
        is_of_host = "://" in origin and not origin.endswith("://")
        return f"{origin}{path}" if is_of_host else str(self._fs.unstrip_protocol(path))

    def _find(self) -> tuple[str | None, list[dict[str, Any]]]:
        fs, path = self._fs, self._path
        fs.invalidate_cache()  # it holds listings of earlier calls
        found = self._info()
        if found is not None and found["type"] == "file":
            return None, [found]
        if found is not None:
            infos = fs.find(path, detail=True).values()
            return path, [info for info in infos if not _is_hidden(info, path, LEFT_OUT_OF_DIRECTORIES)]
        root, pattern = fixed_part(path)
        if not glob.has_magic(pattern):
            return root, []
        hidden = () if pattern.startswith(".") or "/." in pattern else (".",)
        infos = fs.glob(path, detail=True).values()
        return root, [info for info in infos if not _is_hidden(info, root, hidden)]

    def _info(self) -> dict[str, Any] | None:
        """What stands at the path itself, if something does."""
        try:
            info: dict[str, Any] = self._fs.info(self._path)
        except (FileNotFoundError, NotADirectoryError) as error:
            if may_pass(error):
                raise
            return None
        return info


def _is_hidden(info: Mapping[str, Any], root: str, prefixes: tuple[str, ...]) -> bool:
    name = info["name"][len(root) :].lstrip("/")
    return any(part.startswith(prefixes) for part in name.split("/"))
