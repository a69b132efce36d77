"""Make many lasting objects at once without the garbage collector looking through them again and again."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def paused_collection() -> Iterator[None]:
    """While it is open, or a function that it decorates runs, cycles of garbage are left for later.

    Python looks for cycles whenever enough objects were made, and at all objects every now and then. The states and
    tables of ten thousand shards are none of it, and to look took as long as to make them. Not for code that calls
    functions of users: what these leave behind may have to go.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
