"""The machine that a worker runs on, as reports name it."""

from __future__ import annotations

import socket
from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """A machine.

    Attributes:
        host: its name.
        ip: its address, as Ray knows it; empty without Ray.
        id: Ray's id of it; empty without Ray.
    """

    host: str
    ip: str = ""
    id: str = ""

    @classmethod
    def here(cls, ip: str = "", node_id: str = "") -> Node:
        """The machine of this process."""
        return cls(socket.gethostname(), ip, node_id)
