"""What a pass over an epoch finds out as it goes: how much there is, what reading it took, and where lanes stand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from raydata_ext.streaming.nodes.base import StatelessCursor

if TYPE_CHECKING:
    from raydata_ext.streaming.nodes.base import Cursor, State


@dataclass(frozen=True)
class Mark:
    """Where the lanes stand at a step, so that resuming need not go through what came before.

    Attributes:
        step: the step that comes next.
        lanes: position of the reader of each lane.
    """

    step: int
    lanes: tuple[State, ...]


@dataclass
class EpochLog:
    """What a pass finds out as it goes; written by the cursors, read by whoever consumes their rows.

    Attributes:
        total: rows of the epoch, once they are known.
        marks: by step, where rows have to be read to go through them; the consumer removes them.
        bytes_read: bytes of the rows that were read.
        bytes_made: bytes of the rows that became of them.
        read_seconds: how long that took.
        shards_read: numbers of the shards of tables that were read from, as they are met; the consumer removes them.
    """

    total: int | None = None
    marks: dict[int, Mark] = field(default_factory=dict)
    bytes_read: int = 0
    bytes_made: int = 0
    read_seconds: float = 0.0
    shards_read: list[int] = field(default_factory=list)


class LoggedCursor(StatelessCursor):
    """Rows as they come, of which something is written to a log.

    Args:
        rows: what is read.
        log: what a pass finds out.
    """

    def __init__(self, rows: Cursor, log: EpochLog) -> None:
        super().__init__(rows)
        self._log = log
