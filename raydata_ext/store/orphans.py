"""Which files were left behind by processes that are no more."""

from __future__ import annotations

import os
import socket

from raydata_ext.table.ipc_writer import parse_temporary_name

FOREIGN_ORPHAN_SECONDS = 24 * 3600.0
"""Time without a change after which a file of a process on another host counts as left behind."""


def is_orphan(name: str, modified: float, now: float) -> bool:
    """Tell whether a temporary file was left behind.

    Args:
        name: File name; one that is not of the form of a temporary file is no orphan.
        modified: Unix time in seconds of the file's last change.
        now: Unix time in seconds.
    """
    owner = parse_temporary_name(name)
    return owner is not None and owner_is_gone(*owner, modified, now)


def owner_is_gone(host: str, process_id: int, modified: float, now: float) -> bool:
    """Tell whether the owner of a file has ended.

    On this host the process is looked for. One on another host can't be seen; it counts as ended when the file has not
    changed for a day. Containers that share a directory must differ in their host names.

    Args:
        host: Host name of the owner.
        process_id: Process id of the owner.
        modified: Unix time in seconds of the file's last change.
        now: Unix time in seconds.
    """
    if host == socket.gethostname():
        return not _lives(process_id)
    return now - modified > FOREIGN_ORPHAN_SECONDS


def _lives(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
