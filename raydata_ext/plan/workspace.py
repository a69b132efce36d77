"""One cache directory: results, contents of inputs that were seen, and what was computed from which."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from raydata_ext.plan.history import History
from raydata_ext.sources import IdentityIndex
from raydata_ext.store import Store

CACHE_VARIABLE = "RAYDATA_EXT_CACHE"


@dataclass(frozen=True, eq=False)
class Workspace:
    """What a plan is held against, and where its results go.

    Args:
        cache_dir: a path; None is what the environment variable `RAYDATA_EXT_CACHE` says, else `~/.cache/raydata_ext`.

    Attributes:
        path: the directory.
        store: results by key.
        index: contents of inputs, known without reading them.
        history: the components of the keys of earlier runs, for explanations.
    """

    cache_dir: str | os.PathLike[str] | None = None
    path: Path = field(init=False)
    store: Store = field(init=False)
    index: IdentityIndex = field(init=False)
    history: History = field(init=False)

    def __post_init__(self) -> None:
        chosen = self.cache_dir or os.environ.get(CACHE_VARIABLE) or Path.home() / ".cache" / "raydata_ext"
        path = Path(chosen).expanduser().absolute()
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "store", Store.open(path))
        object.__setattr__(self, "index", IdentityIndex(path / "identity"))
        object.__setattr__(self, "history", History(path / "history"))
