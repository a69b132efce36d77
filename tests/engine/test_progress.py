"""What is shown while a run goes on."""

from __future__ import annotations

import io

from rich.console import Console

from raydata_ext.engine import Named, progress_for
from raydata_ext.engine.pool_status import PoolStatus


def shown(tell, name=None, *, terminal=False):
    """What is shown of a phase of three shards, one of them cached, of which `tell` tells something."""
    sink = io.StringIO()
    progress = progress_for(Console(file=sink, force_terminal=terminal, width=200))
    told = progress if name is None else Named(name, progress)
    told.begin("computing", 3, 1, 2_000_000)
    tell(told)
    told.end()
    return sink.getvalue()


def two_shards(progress):
    progress.advance(1_000_000, 1200)
    progress.advance(1_000_000, 34)


def test_lines_say_how_a_phase_begins_and_ends():
    first, last = shown(two_shards).splitlines()
    assert first == "computing: 3 shards, 1 cached, 2.0 MB to do"
    assert last.startswith("computing: 3/3 shards, 1 cached, 1,234 rows, ")


def test_lines_count_shards_that_show_only_later_and_the_workers():
    def tell(progress):
        progress.resize(5)
        progress.watch(PoolStatus(workers=2, starting=0, running=2, rows=7, lost=1))

    assert "computing: 1/5 shards, 1 cached, 2 running, 2 workers (1 lost), 7 rows" in shown(tell)


def test_phases_of_a_named_part_of_a_job_bear_its_name():
    first, last = shown(two_shards, "tokens").splitlines()
    assert first == "tokens, computing: 3 shards, 1 cached, 2.0 MB to do"
    assert last.startswith("tokens, computing: 3/3 shards, 1 cached, 1,234 rows, ")


def test_a_terminal_shows_a_bar():
    text = shown(two_shards, "tokens", terminal=True)
    assert "tokens, computing" in text
    assert "100 %" in text
