"""How many rows lie before a saved position: the one place, beside the cursors themselves, that knows their layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raydata_ext.streaming.known import known_sum
from raydata_ext.streaming.nodes.concat import Concat
from raydata_ext.streaming.nodes.round_robin import RoundRobin
from raydata_ext.streaming.nodes.table_source import TableSource

if TYPE_CHECKING:
    from raydata_ext.streaming.nodes.base import Node, State


def rows_done(node: Node, state: State) -> int | None:
    """How many rows of a node come before a position of it, found without a pass over them.

    Args:
        node: what was read.
        state: a position of a cursor of it.

    Returns:
        Rows; None where they cannot be told from the position alone.
    """
    if isinstance(node, TableSource):
        before = node.runs[: state["shard"]]
        return int((before[:, 1] - before[:, 0]).sum()) + int(state["row"])
    if isinstance(node, RoundRobin):
        return known_sum(rows_read(group, saved) for group, saved in zip(node.parts, state["inputs"], strict=True))
    if isinstance(node, Concat):
        ended = known_sum(part.num_rows for part in node.parts[: state["part"]])
        current = 0 if state["input"] is None else rows_done(node.parts[state["part"]], state["input"])
        return known_sum([ended, current])
    return None


def rows_read(node: Node, state: State) -> int | None:
    """The same for a position of a `RowReader` of the node."""
    done = rows_done(node, state["at"])
    return None if done is None else done + int(state["rows"])
