"""What is shown while a run goes on."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from raydata_ext.engine import Named, progress_for
from raydata_ext.engine.pool_status import PoolStatus
from raydata_ext.engine.progress_display import Bar, Lines


@pytest.fixture(autouse=True)
def every_change(monkeypatch):
    """A line for each change rather than every few seconds."""
    monkeypatch.setattr("raydata_ext.engine.progress_display.LINE_SECONDS", 0.0)
    monkeypatch.setattr("raydata_ext.engine.progress_display.MOST_LINE_SECONDS", 0.0)


def shown(tell, name=None, *, terminal=False, width=200, phase=(3, 1, 2_000_000)):
    """What is shown of a phase of three shards, one of them cached, of which `tell` tells something."""
    sink = io.StringIO()
    progress = progress_for(Console(file=sink, force_terminal=terminal, width=width, legacy_windows=False, _environ={}))
    told = progress if name is None else Named(name, progress)
    told.begin("computing", *phase)
    tell(told)
    told.end()
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sink.getvalue())


def last_lines(text):
    """The two lines that stay on a terminal."""
    return [line.rstrip() for line in text.replace("\r", "\n").splitlines() if line.strip()][-2:]


def two_shards(progress):
    progress.advance(1_000_000, 1200)
    progress.advance(1_000_000, 34)


def one_shard(progress):
    progress.advance(1_000_000, 1200)


def nothing(progress):
    """Tell nothing."""


def test_lines_say_how_a_phase_begins_goes_on_and_ends():
    first, between, last = shown(two_shards).splitlines()
    assert first == "computing: 3 shards, 1 cached, 2 MB to do"
    assert re.fullmatch(r"computing: 2/3 shards \(1 cached\), 1,200 rows, [\d.]+ .B/s, \d+ s left", between)
    assert re.fullmatch(r"computing: 3/3 shards \(1 cached\), 1,234 rows, [\d.]+ .B/s, in \d+ s", last)


def test_a_phase_that_ended_early_says_so_and_has_no_time_left():
    assert re.search(r"B/s, ended after \d+ s$", shown(one_shard).splitlines()[-1])
    assert re.search(r"50% ended after \d+ s$", last_lines(shown(one_shard, terminal=True))[0])


def test_where_all_is_cached_there_is_one_line_and_no_rate():
    assert shown(nothing, phase=(150_448, 150_448, 0)) == "computing: 150,448 shards, all cached\n"
    assert shown(nothing, phase=(1, 1, 0)) == "computing: 1 shard, all cached\n"
    assert shown(nothing, phase=(0, 0, 0)) == "computing: nothing to do\n"
    assert last_lines(shown(nothing, terminal=True, phase=(5, 5, 0)))[1] == "5 shards, all cached"


def test_work_without_bytes_counts_by_shards():
    def half(progress):
        progress.advance(0, 10)

    line = shown(half, phase=(2, 0, 0)).splitlines()[1]
    assert re.fullmatch(r"computing: 1/2 shards, 10 rows, \d+ s left", line)
    assert "50%" in last_lines(shown(half, terminal=True, phase=(2, 0, 0)))[0]


def test_lines_count_shards_that_show_only_later_and_the_workers():
    def tell(progress):
        progress.resize(5)
        progress.watch(PoolStatus(workers=2, starting=1, running=2, rows=7, lost=1))

    line = shown(tell).splitlines()[1]
    assert line == "computing: 1/5 shards (1 cached), 2 running (7 rows read), 2 workers (1 lost), 1 starting"


def test_there_is_no_estimate_of_the_time_left_before_each_worker_has_done_a_shard():
    def tell(progress):
        progress.watch(PoolStatus(workers=2, starting=0, running=2, rows=0, lost=0))
        progress.advance(1000, 1)
        progress.advance(1000, 1)

    first, second, third = shown(tell, phase=(9, 0, 9000)).splitlines()[1:4]
    assert "left" not in first + second
    assert re.search(r" \d+ s left$", third)


def test_a_line_is_one_line_however_long_and_whatever_the_name():
    text = shown(two_shards, "news [bold]" * 30, width=80)
    assert len(text.splitlines()) == 3
    assert text.startswith("news [bold]news [bold]")


def test_a_terminal_shows_a_bar_and_figures_below():
    head, figures = last_lines(shown(two_shards, "tokens", terminal=True))
    assert re.fullmatch(r"tokens, computing ━+ 100% in \d+ s", head)
    assert re.fullmatch(r"3/3 shards \(1 cached\), 1,234 rows, [\d.]+ .B/s", figures)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_narrow_terminal_shows_whole_figures_as_many_as_there_is_room_for(width):
    def tell(progress):
        progress.watch(PoolStatus(workers=200, starting=0, running=198, rows=123_456_789, lost=10))
        progress.advance(1_000_000, 1_234_567_890)

    text = shown(tell, "tokens", terminal=True, width=width)
    assert max(map(len, text.replace("\r", "\n").splitlines())) <= width
    head, figures = last_lines(text)
    assert re.search(r"━ 50% ended after \d+ s$", head.replace("╺", ""))
    parts = ["2/3 shards (1 cached)", "1,234,567,890 rows"]
    assert figures.split(", ", 1)[0] == parts[0]
    assert (parts[1] in figures) == (width >= 60)
    assert not figures.endswith("…")


def test_a_terminal_that_cannot_move_its_cursor_gets_lines():
    assert isinstance(progress_for(Console(force_terminal=True, _environ={"TERM": "dumb"})), Lines)
    assert isinstance(progress_for(Console(force_terminal=True, _environ={"TERM": "xterm"})), Bar)
