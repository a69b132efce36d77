"""Files that are not on this machine: a copy is made when one is opened, and stays as long as it is mapped.

The room for copies is bounded. Where it is used up, all tables of this process let go of the files that they have open
only in order to be quick, so that copies which nobody looks at can make room.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from raydata_ext.errors import NoRoomError
from raydata_ext.table.ipc_reader import open_ipc_file
from raydata_ext.table.row_index import let_go_of_parts

if TYPE_CHECKING:
    import pyarrow as pa

PATIENCE_SECONDS = 10.0
"""How long it is waited for room that other processes use."""

_PAUSE_SECONDS = 0.05


class FileOrigin(Protocol):
    """Where a file comes from; a picklable value, which gives a copy on whatever machine it is asked."""

    def hold(self) -> str:
        """Return the path of a copy on this machine, which stays until it was released as often as it was held.

        Raises:
            NoRoomError: the copies in use leave no room.
        """

    def release(self) -> None:
        """Say that one that holds the copy needs it no longer. May be called by any thread, at any moment."""


def open_copy(origin: FileOrigin) -> tuple[pa.Table, int]:
    """Map a copy of a file, and hold it until the last view of its rows is gone.

    Args:
        origin: gives the copy.

    Returns:
        The table, and the size of the file in bytes.

    Raises:
        NoRoomError: the copies that are looked at leave no room.
        CorruptFileError: it is truncated, damaged or no Arrow file.
    """
    path = _hold(origin)
    return open_ipc_file(path, when_unmapped=origin.release), Path(path).stat().st_size


def _hold(origin: FileOrigin) -> str:
    """Hold the copy; where other processes leave no room, wait a little for them."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return origin.hold()
        except NoRoomError as error:
            if let_go_of_parts():
                continue
            if not error.may_pass or time.monotonic() > give_up:
                raise
        time.sleep(_PAUSE_SECONDS)
