"""The files of one flat directory, on a file system or under a URL."""

from __future__ import annotations

import contextlib
import functools
import tempfile
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from raydata_ext.errors import StoreError
from raydata_ext.remote import Retries, StorageOptions, absolute_place, find_file_system, find_version, is_url
from raydata_ext.store.atomic_files import write_file_atomically
from raydata_ext.store.orphans import is_orphan
from raydata_ext.store.transfer import download, has_no_directories, upload

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager


class DirectoryFiles(ABC):
    """What can be done with a directory and the files in it, by name.

    Attributes:
        path: absolute path, or URL.
    """

    path: str

    @abstractmethod
    def make(self) -> None:
        """Make the directory, where directories are made."""

    @abstractmethod
    def exists(self) -> bool:
        """Whether there is such a directory."""

    @abstractmethod
    def names(self) -> list[str]:
        """Names of what is in it."""

    @abstractmethod
    def leftovers(self) -> list[str]:
        """Names of temporary files whose writers have ended."""

    @abstractmethod
    def sizes(self, names: Sequence[str]) -> dict[str, int]:
        """Bytes of those files that are there."""

    @abstractmethod
    def read(self, name: str) -> bytes | None:
        """All of a small file, or None if there is none."""

    @abstractmethod
    def write(self, name: str, content: bytes, *, sync: bool) -> None:
        """Write a small file, which appears at once, over one that is there."""

    @abstractmethod
    def delete(self, name: str) -> None:
        """Delete a file; one that is not there is none to delete."""

    @abstractmethod
    def written(self, name: str) -> AbstractContextManager[str]:
        """A local path for a file to be written to; at the end of the context it is in the directory."""

    @abstractmethod
    def fetched(self, name: str) -> AbstractContextManager[str]:
        """A local path of a file, for as long as the context lasts."""


def open_directory(
    path: str | os.PathLike[str] | DirectoryFiles, storage_options: StorageOptions | None = None
) -> DirectoryFiles:
    """The files of a directory, which need not exist.

    Args:
        path: a path, or a URL that fsspec knows; what this function returned is returned as it is.
        storage_options: further arguments of the file system of a URL.
    """
    if isinstance(path, DirectoryFiles):
        return path
    place = absolute_place(path)
    return RemoteDirectory(place, dict(storage_options or {})) if is_url(place) else LocalDirectory(place)


@dataclass(frozen=True)
class LocalDirectory(DirectoryFiles):
    """Of a file system."""

    path: str

    @override
    def make(self) -> None:
        try:
            Path(self.path).mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            raise StoreError(f"{self.path} is a file; give a directory as the output") from error
        except NotADirectoryError as error:
            raise StoreError(f"{self.path} is below a file; give a directory as the output") from error
        except PermissionError as error:
            raise StoreError(f"{self.path} cannot be made ({error.strerror}); give a directory of your own") from error

    @override
    def exists(self) -> bool:
        return Path(self.path).is_dir()

    @override
    def names(self) -> list[str]:
        return sorted(one.name for one in Path(self.path).iterdir())

    @override
    def leftovers(self) -> list[str]:
        now, found = time.time(), []
        for path in Path(self.path).iterdir():
            with contextlib.suppress(FileNotFoundError):  # another process removes the same leftovers
                if is_orphan(path.name, path.stat().st_mtime, now):
                    found.append(path.name)
        return found

    @override
    def sizes(self, names: Sequence[str]) -> dict[str, int]:
        found = {}
        for name in names:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                found[name] = Path(self.path, name).stat().st_size
        return found

    @override
    def read(self, name: str) -> bytes | None:
        try:
            return Path(self.path, name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    @override
    def write(self, name: str, content: bytes, *, sync: bool) -> None:
        write_file_atomically(Path(self.path, name), content, sync=sync)

    @override
    def delete(self, name: str) -> None:
        Path(self.path, name).unlink(missing_ok=True)

    @override
    @contextlib.contextmanager
    def written(self, name: str) -> Iterator[str]:
        yield str(Path(self.path, name))

    @override
    @contextlib.contextmanager
    def fetched(self, name: str) -> Iterator[str]:
        yield str(Path(self.path, name))


@dataclass(frozen=True)
class RemoteDirectory(DirectoryFiles):
    """Of an object store, or what else fsspec knows; requests that fail for a passing reason are made again."""

    path: str
    storage_options: StorageOptions = field(default_factory=dict, repr=False)  # it may hold secrets
    retries: Retries = field(default_factory=Retries)

    @override
    def make(self) -> None:
        if not has_no_directories(self._file_system):
            self._try("making", "", lambda at: self._file_system.makedirs(at, exist_ok=True))

    @override
    def exists(self) -> bool:
        return bool(self.names())

    @override
    def names(self) -> list[str]:
        return sorted(one["name"].rstrip("/").rpartition("/")[2] for one in self._infos())

    @override
    def leftovers(self) -> list[str]:
        return []  # what is written has its final name and appears when it is whole

    @override
    def sizes(self, names: Sequence[str]) -> dict[str, int]:
        listed = {one["name"].rpartition("/")[2]: one["size"] for one in self._infos()}
        sizes = {name: self._size(name) if listed.get(name) is None else int(listed[name]) for name in names}
        return {name: size for name, size in sizes.items() if size is not None}

    @override
    def read(self, name: str) -> bytes | None:
        try:
            content: bytes = self._try("reading", name, self._file_system.cat_file)
        except FileNotFoundError:
            return None
        return content

    @override
    def write(self, name: str, content: bytes, *, sync: bool) -> None:
        self._try("writing", name, lambda at: self._file_system.pipe_file(at, content))

    @override
    def delete(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._try("deleting", name, self._file_system.rm_file)

    @override
    @contextlib.contextmanager
    def written(self, name: str) -> Iterator[str]:
        with tempfile.TemporaryDirectory(prefix="raydata_ext-") as directory:
            local = Path(directory, name)
            yield str(local)
            upload(local, f"{self.path}/{name}", self.storage_options, self.retries)

    @override
    @contextlib.contextmanager
    def fetched(self, name: str) -> Iterator[str]:
        with tempfile.TemporaryDirectory(prefix="raydata_ext-") as directory:
            local = Path(directory, Path(name).name)
            with local.open("wb") as file:
                download(f"{self.path}/{name}", file, None, self.storage_options, self.retries)
            yield str(local)

    def version(self, name: str) -> str:
        """What tells this content of a file from a later one: its tag or time; empty where the place tells neither."""
        return "".join(find_version(self._try("looking at", name, self._file_system.info)))

    @functools.cached_property
    def _location(self) -> tuple[Any, str]:
        file_system, path = find_file_system(self.path, self.storage_options)
        return file_system, path.rstrip("/")

    @property
    def _file_system(self) -> Any:
        return self._location[0]

    def _size(self, name: str) -> int | None:
        """Size of a file that is not listed, or without a size: web servers may list nothing."""
        try:
            size = self._try("looking at", name, self._file_system.info)["size"]
        except FileNotFoundError:
            return None
        return None if size is None else int(size)

    def _infos(self) -> list[dict[str, Any]]:
        def listing(at: str) -> list[dict[str, Any]]:
            self._file_system.invalidate_cache(at)
            found: list[dict[str, Any]] = self._file_system.ls(at, detail=True)
            return found

        try:
            found: list[dict[str, Any]] = self._try("listing", "", listing)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return found

    def _try(self, doing: str, name: str, action: Callable[[str], Any]) -> Any:
        at = f"{self._location[1]}/{name}" if name else self._location[1]
        return self.retries.run(f"{doing} {self.path}/{name}", lambda: action(at))
