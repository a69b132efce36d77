"""Where a data set keeps its results, and what is known of its inputs: one cache directory."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from raydata_ext.sources import IdentityIndex
from raydata_ext.store import Store

CACHE_VARIABLE = "RAYDATA_EXT_CACHE"


@dataclass(frozen=True, eq=False)
class Workspace:
    """A cache directory with its store and its index of known contents.

    Args:
        cache_dir: a path; None is what the environment variable `RAYDATA_EXT_CACHE` says, else `~/.cache/raydata_ext`.
    """

    cache_dir: str | os.PathLike[str] | None = None
    path: Path = field(init=False)
    store: Store = field(init=False)
    index: IdentityIndex = field(init=False)

    def __post_init__(self) -> None:
        chosen = self.cache_dir or os.environ.get(CACHE_VARIABLE) or Path.home() / ".cache" / "raydata_ext"
        path = Path(chosen).expanduser().absolute()
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "store", Store.open(path))
        object.__setattr__(self, "index", IdentityIndex(path / "identity"))
