"""Where a shard file is written before it is published."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from raydata_ext.store.receipt import plain_file_name
from raydata_ext.table.ipc_writer import temporary_name

if TYPE_CHECKING:
    from pathlib import Path


def staging_name(directory: Path, key: str) -> Path:
    """Return the path of a shard file in the making: private to this thread, which finds it again.

    It is a temporary name by form, so that one which a dead process left behind is told as such.

    Args:
        directory: An existing directory.
        key: 32 lower-case hex digits.
    """
    name, _random, suffix = temporary_name(directory / plain_file_name(key)).name.rsplit(".", 2)
    return directory / f"{name}.{threading.get_ident():x}.{suffix}"
