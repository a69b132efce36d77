"""One cache directory: results, contents of inputs that were seen, and what was computed from which.

Under a URL are results only. The other two are memories of the machine that plans, without which inputs are read once
more, and misses are not explained; they are in the user's own cache directory, below a name made of the URL.
"""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Union

import xxhash

from raydata_ext.plan.history import History
from raydata_ext.redaction import redacted
from raydata_ext.remote import absolute_place, is_url
from raydata_ext.sources import IdentityIndex
from raydata_ext.store import NodeCache, Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from raydata_ext.remote import StorageOptions

CACHE_VARIABLE = "RAYDATA_EXT_CACHE"

CacheDir: TypeAlias = Union[str, os.PathLike[str], "Workspace", None]
"""Where results are kept: a path, a URL, or a workspace, which also says how a URL is reached and copied from."""


@dataclass(frozen=True, eq=False)
class Workspace:
    """What a plan is held against, and where its results go. Pickling takes along what it was made of.

    Args:
        cache_dir: a path or fsspec URL; None is what the environment variable `RAYDATA_EXT_CACHE` says, else
            `~/.cache/raydata_ext`.
        storage_options: further arguments of the file systems of URLs, see `remote.StorageOptions`.
        local_dir: where a machine keeps its copies of files under URLs; None is what each machine says, see
            `NodeCache`.
        max_local_bytes: bound of all copies of a machine; None is what each machine says.

    Attributes:
        path: absolute path, or URL.
        copies: the copies of a machine.
        store: results by key.
        index: contents of inputs, known without reading them.
        history: the components of the keys of earlier runs, for explanations.
    """

    cache_dir: str | os.PathLike[str] | None = None
    storage_options: StorageOptions = field(default_factory=dict, repr=False)  # it may hold secrets
    local_dir: str | os.PathLike[str] | None = None
    max_local_bytes: int | None = None
    path: str = field(init=False)
    copies: NodeCache = field(init=False)
    store: Store = field(init=False)
    index: IdentityIndex = field(init=False)
    history: History = field(init=False)

    def __post_init__(self) -> None:
        own = Path.home() / ".cache" / "raydata_ext"
        path = absolute_place(self.cache_dir or os.environ.get(CACHE_VARIABLE) or own)
        memories = own / "of_urls" / xxhash.xxh3_64_hexdigest(path.encode()) if is_url(path) else Path(path)
        local = None if self.local_dir is None else absolute_place(self.local_dir)
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "copies", NodeCache(local, self.max_local_bytes))
        store = Store.open(
            path, local_dir=local, max_local_bytes=self.max_local_bytes, storage_options=self.storage_options
        )
        object.__setattr__(self, "store", store)
        object.__setattr__(self, "index", IdentityIndex(memories / "identity"))
        object.__setattr__(self, "history", History(memories / "history"))

    @classmethod
    def of(cls, cache_dir: CacheDir, storage_options: StorageOptions | None = None) -> Workspace:
        """The workspace that is meant.

        Args:
            cache_dir: a path or URL, or a workspace.
            storage_options: see the class; None is what a workspace has.
        """
        if not isinstance(cache_dir, Workspace):
            return cls(cache_dir, dict(storage_options or {}))
        return cache_dir if storage_options is None else replace(cache_dir, storage_options=dict(storage_options))

    @contextmanager
    def temporary(self) -> Iterator[Workspace]:
        """A place below this one for results that are removed at the end; whoever sees this one sees it."""
        place = Workspace(
            f"{self.path}/in-memory-{secrets.token_hex(8)}", self.storage_options, self.local_dir, self.max_local_bytes
        )
        for memory in ("index", "history"):  # what is known of inputs stays known
            object.__setattr__(place, memory, getattr(self, memory))
        try:
            yield place
        finally:
            place.store.remove_all()

    @property
    def local_directory(self) -> str:
        """The path, which all workers must see; empty where it is a URL."""
        return "" if is_url(self.path) else self.path

    def __repr__(self) -> str:
        return f"Workspace({redacted(self.path)!r})"

    def __reduce__(self) -> tuple[type[Workspace], tuple[object, ...]]:
        return type(self), (self.path, self.storage_options, self.local_dir, self.max_local_bytes)
