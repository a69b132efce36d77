"""One cache directory: results, contents of inputs that were seen, and what was computed from which.

Under a URL are results only. The other two are memories of the machine that plans, without which inputs are read once
more, and misses are not explained; they are in the user's own cache directory, below a name made of the URL.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import xxhash

from raydata_ext.plan.history import History
from raydata_ext.sources import IdentityIndex
from raydata_ext.store import Store

CACHE_VARIABLE = "RAYDATA_EXT_CACHE"


@dataclass(frozen=True, eq=False)
class Workspace:
    """What a plan is held against, and where its results go.

    Args:
        cache_dir: a path or fsspec URL; None is what the environment variable `RAYDATA_EXT_CACHE` says, else
            `~/.cache/raydata_ext`.

    Attributes:
        path: absolute path, or URL.
        store: results by key.
        index: contents of inputs, known without reading them.
        history: the components of the keys of earlier runs, for explanations.
    """

    cache_dir: str | os.PathLike[str] | None = None
    path: str = field(init=False)
    store: Store = field(init=False)
    index: IdentityIndex = field(init=False)
    history: History = field(init=False)

    def __post_init__(self) -> None:
        own = Path.home() / ".cache" / "raydata_ext"
        chosen = os.fspath(self.cache_dir or os.environ.get(CACHE_VARIABLE) or own).removeprefix("file://")
        is_url = "://" in chosen
        path = chosen.rstrip("/") if is_url else str(Path(chosen).expanduser().absolute())
        memories = own / "of_urls" / xxhash.xxh3_64_hexdigest(path.encode()) if is_url else Path(path)
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "store", Store.open(path))
        object.__setattr__(self, "index", IdentityIndex(memories / "identity"))
        object.__setattr__(self, "history", History(memories / "history"))

    @property
    def local_directory(self) -> str:
        """The path, which all workers must see; empty where it is a URL."""
        return "" if "://" in self.path else self.path
