"""A running feed in a terminal."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from raydata_ext.feed.coordinator import StreamingCoordinator

SILENT_SECONDS = 30.0
"""A rank that was not heard of for longer than this is shown in red."""


def watch(coordinator: StreamingCoordinator, *, interval: float = 1.0, console: Console | None = None) -> None:
    """Show the status of a feed until the user interrupts it, or the coordinator is gone.

    Args:
        coordinator: the coordinator.
        interval: seconds between two looks.
        console: where to; None is standard output.
    """
    pause = threading.Event()
    with Live(status_view(coordinator.status()), console=console or Console(), auto_refresh=False) as live:
        while not pause.wait(interval):
            live.update(status_view(coordinator.status()), refresh=True)


def status_view(status: Mapping[str, Any]) -> Group:
    """What `StreamingCoordinator.status` says, as a table of ranks, and one of sources where there is a mixture."""
    steps = "?" if status["steps"] is None else status["steps"]
    head = Text(
        f"{status['name']}: epoch {status['epoch']}, step {status['step']} of {steps};"
        f" generation {status['generation']}, {len(status['ranks'])} of {status['world_size'] or 0} ranks;"
        f" {status['num_lanes']} lanes, global batch {status['global_batch_size']}"
    )
    parts: list[Text | Table] = [head, _ranks(status["ranks"])]
    if status["sources"]:
        parts.append(_sources(status["sources"]))
    return Group(*parts)


def _ranks(ranks: list[Mapping[str, Any]]) -> Table:
    seconds = ("wait", "read", "transform", "format")
    table = Table("rank", "epoch", "step", "rows", "MB", "MB read", "shards", *seconds, "stalls", "ready", "heard")
    for rank in ranks:
        table.add_row(
            str(rank["rank"]),
            str(rank["epoch"]),
            str(rank["step"]),
            f"{rank.get('rows', 0):,}",
            f"{rank.get('bytes', 0) / 1e6:,.1f}",
            f"{rank.get('bytes_read', 0) / 1e6:,.1f}",
            f"{rank.get('shards_read', 0):,}",
            *(f"{rank.get(f'{name}_seconds', 0):.1f} s" for name in seconds),
            str(rank.get("stalls", 0)),
            str(rank.get("queue_depth", 0)),
            f"{rank['silent_seconds']:.1f} s ago",
            style="red" if rank["silent_seconds"] > SILENT_SECONDS else None,
        )
    return table


def _sources(sources: Mapping[str, Mapping[str, Any]]) -> Table:
    table = Table("source", "rows", "epochs", "share")
    for name, source in sources.items():
        table.add_row(name, f"{source['rows']:,}", f"{source['epochs']:.2f}", f"{source['share']:.1%}")
    return table
