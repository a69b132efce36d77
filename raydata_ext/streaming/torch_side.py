"""What torch wants of a stream: to be one of its iterable data sets, and to give each loader process its part."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LoaderProcess:
    """Which of the processes of a `torch.utils.data.DataLoader` this is.

    Attributes:
        index: its number.
        count: how many there are.
    """

    index: int
    count: int


def loader_process() -> LoaderProcess | None:
    """Which loader process this is, or None; makes what it inherited from its parent usable."""
    data: Any = sys.modules.get("torch.utils.data")
    info = None if data is None else data.get_worker_info()
    if info is None:
        return None
    asynchronous: Any = sys.modules.get("fsspec.asyn")
    if asynchronous is not None:
        asynchronous.reset_lock()  # the thread that may have held it stayed in the parent
    return LoaderProcess(info.id, info.num_workers)


def class_for_torch(own: type) -> type:
    """The class by which torch knows objects of `own` as iterable data sets, or `own` while torch is not imported."""
    data: Any = sys.modules.get("torch.utils.data")
    base = getattr(data, "IterableDataset", None)
    return own if base is None or issubclass(own, base) else _joined(own, base)


@functools.cache
def _joined(own: type, base: type) -> type:
    return type(own.__name__, (own, base), {"__module__": own.__module__})
