"""The status of a feed is shown as tables."""

from __future__ import annotations

import pytest
from rich.console import Console

from raydata_ext.feed import CoordinatorLostError
from raydata_ext.feed.status_view import status_view, watch

RANK = {"rank": 0, "epoch": 1, "step": 7, "silent_seconds": 45.0, "rows": 12345, "bytes": 2_500_000, "stalls": 3}
STATUS = {
    "name": "main",
    "epoch": 1,
    "step": 7,
    "steps": None,
    "generation": 2,
    "world_size": 2,
    "missing_ranks": [1],
    "num_lanes": 64,
    "global_batch_size": 512,
    "sources": {"web": {"rows": 900, "epochs": 1.5, "share": 0.9}},
    "ranks": [RANK],
}


def test_ranks_and_sources_are_shown():
    console = Console(width=160, record=True, file=None, quiet=False, force_terminal=False)
    with console.capture() as captured:
        console.print(status_view(STATUS))
    shown = captured.get()
    assert "main: epoch 1, step 7 of ?; generation 2, 1 of 2 ranks; 64 lanes, global batch 512" in shown
    assert "12,345" in shown
    assert "45.0" in shown
    assert "90.0%" in shown


class Passing:
    """A coordinator that ends after some looks."""

    def __init__(self, looks):
        self.steps = iter(range(looks))

    def status(self):
        step = next(self.steps, None)
        if step is None:
            raise CoordinatorLostError("it is gone")
        return {**STATUS, "step": step}


def test_watching_shows_the_last_status_until_the_coordinator_is_gone():
    console = Console(width=160, force_terminal=False)
    with console.capture() as captured, pytest.raises(CoordinatorLostError):
        watch(Passing(3), interval=0.01, console=console)
    assert "step 2 of" in captured.get()


def test_a_rank_that_is_silent_is_red():
    console = Console(width=160, force_terminal=True, color_system="standard", legacy_windows=False)
    with console.capture() as captured:
        console.print(status_view(STATUS))
    assert "\x1b[31m" in captured.get()
    with console.capture() as captured:
        console.print(status_view({**STATUS, "ranks": [{**RANK, "silent_seconds": 1.0}]}))
    assert "\x1b[31m" not in captured.get()
