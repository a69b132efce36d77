"""Rows that kill their worker."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import raydata_ext as rdx
from raydata_ext.engine import Engine, ErrorPolicy, Program, Workers, run_all
from raydata_ext.engine.poison import MOST_DEATHS, PoisonHunt
from raydata_ext.engine.quarantine import records_of
from raydata_ext.engine.watch import Mark, Marker, Watch
from raydata_ext.errors import QuarantineError, WorkerLostError
from raydata_ext.plan import Chain, Map, UserFunction
from raydata_ext.store import Store

ROWS = 3000
POISON = {1234}
DEATHS_BY_CHANCE = 2


@pytest.fixture
def lines(tmp_path):
    """One file of 3,000 numbered lines."""
    (tmp_path / "lines.txt").write_text("".join(f"{n}\n" for n in range(ROWS)))
    return rdx.scan_dataset(str(tmp_path / "lines.txt"), format="text", cache_dir=tmp_path / "cache")


def die_on_row(row):
    if int(row["text"]) in POISON:
        os._exit(7)
    return {"n": int(row["text"])}


def die_on_batch(batch):
    numbers = [int(text) for text in batch["text"]]
    if not POISON.isdisjoint(numbers):
        os._exit(7)
    return {"n": numbers, "first": [numbers[0]] * len(numbers)}


def exit_on_row(row):
    if int(row["text"]) in POISON:
        sys.exit(0)
    return {"n": int(row["text"])}


async def die_while_waiting(row):
    return die_on_row(row)


def twice(batch):
    return {"text": [text for text in batch["text"] for _ in range(2)]}


class DieTwice:
    """Ends its process at one row, the first two times that it sees it."""

    def __init__(self, log):
        self.log = log

    def __call__(self, row):
        if row["text"] == "1500":
            with self.log.open("a") as log:
                log.write("x")
            if self.log.stat().st_size <= DEATHS_BY_CHANCE:
                os._exit(7)
        return {"n": int(row["text"])}


def run(lazy, **policy):
    with Engine("ray", Workers(min=1, max=1)) as engine:
        parts = run_all(lazy.plan, lazy.workspace, engine, errors=ErrorPolicy(**policy))
    receipts = [result.receipt for part in parts for result in part]
    return lazy.make_dataset(parts[-1], lazy.workspace), list(records_of(lazy.workspace.store, receipts))


@pytest.mark.usefixtures("ray_session")
@pytest.mark.parametrize("function", [die_on_row, exit_on_row, pytest.param(die_while_waiting, marks=pytest.mark.slow)])
def test_a_row_that_kills_the_worker_is_found_and_set_aside(lines, tmp_path, function):
    dataset, records = run(lines.map(function), on_error="quarantine")
    assert dataset["n"] == [n for n in range(ROWS) if n not in POISON]
    assert [(record["row"], record["exception"], record["row_json"]) for record in records] == [
        (1234, "worker died", '{"text":"1234"}')
    ]
    assert records[0]["source"] == str(tmp_path / "lines.txt")
    assert "its process ended" in records[0]["message"]
    assert not list((tmp_path / "cache").rglob("*mark*"))


@pytest.mark.usefixtures("ray_session")
def test_a_batched_function_gets_batches_as_if_the_deadly_row_had_never_been_there(lines):
    dataset, records = run(lines.map(die_on_batch, batched=True, batch_size=1000), on_error="quarantine")
    good = [n for n in range(ROWS) if n not in POISON]
    assert dataset["n"] == good
    assert dataset["first"] == [good[n // 1000 * 1000] for n in range(len(good))]
    assert [record["row"] for record in records] == sorted(POISON)


@pytest.mark.slow
@pytest.mark.usefixtures("ray_session")
def test_one_of_several_rows_made_of_one_is_told_from_the_others(lines):
    lazy = lines.map(twice, batched=True, remove_columns=["text"], batch_size=500).map(die_on_row)
    dataset, records = run(lazy, on_error="quarantine")
    assert dataset["n"] == [n for n in range(ROWS) for _ in range(2) if n not in POISON]
    assert len(records) == 2


@pytest.mark.usefixtures("ray_session")
def test_without_quarantine_the_error_names_shard_step_and_rows(lines, tmp_path):
    path = str(tmp_path / "lines.txt")
    with pytest.raises(
        WorkerLostError, match=rf"^{path}: .*in step 1 `die_on_batch` on {path}: rows 1000 to 1999"
    ) as caught:
        run(lines.map(die_on_batch, batched=True, batch_size=1000))
    assert "its process ended without a word" in str(caught.value)
    assert "on_error='quarantine' finds the rows" in str(caught.value)


class DieWhenBuilt:
    def __init__(self):
        os._exit(7)

    def __call__(self, row):
        return row


@pytest.mark.usefixtures("ray_session")
def test_a_class_that_kills_the_worker_when_it_is_built_is_named(lines):
    with pytest.raises(
        WorkerLostError, match=r"died in each of 3 attempts, in step 1 `DieWhenBuilt` while it was built"
    ):
        run(lines.map(DieWhenBuilt), on_error="quarantine")


@pytest.mark.usefixtures("ray_session")
def test_a_row_that_was_there_when_the_worker_died_of_something_else_is_kept(lines, tmp_path):
    dataset, records = run(lines.map(DieTwice(tmp_path / "log"), version="1"), on_error="quarantine")
    assert dataset["n"] == list(range(ROWS))
    assert records == []


@pytest.mark.slow
@pytest.mark.usefixtures("ray_session")
def test_deadly_rows_count_towards_the_limit(lines):
    with pytest.raises(QuarantineError, match=r"1 rows were set aside, and max_errors is 0.*row 1234.*worker died"):
        run(lines.map(die_on_row), on_error="quarantine", max_errors=0)


class Task:
    """Stands for a task, and shows how it is watched."""

    label = "a shard"

    def __init__(self, watch=None):
        self.watch = watch

    def watched(self, watch):
        return Task(watch)


@pytest.fixture(scope="module")
def hunt_in(tmp_path_factory):
    """Makes hunts over a program of one step."""
    directory = tmp_path_factory.mktemp("hunt")
    chain = Chain.of([Map(UserFunction(die_on_batch), batched=True)])

    def make(on_error="quarantine"):
        return PoisonHunt(Program(chain, Store.open(directory), str(directory), errors=ErrorPolicy(on_error)))

    return make


def die(hunt, first, last):
    """Let the worker of a task die while a function has these rows; the failures and how the task is watched next."""
    watch = hunt.prepared(0, Task()).watch
    if watch is not None:
        Marker(watch.path).set(Mark(0, first, last, f"rows {first} to {last}"))
    return hunt.learn(0, "a shard", "killed"), hunt.prepared(0, Task()).watch


def called(watch: Watch, poison: int, rows: int, size: int) -> tuple[int, int]:
    """The rows of the call that a worker dies in, which gives a step its suspects in parts."""
    first = poison // size * size
    last = min(first + size, rows) - 1
    suspects = watch.suspects
    if suspects is None or suspects.first == suspects.last:
        return first, last
    part = max(1, -(-(suspects.last - suspects.first + 1) // 32))
    start = suspects.first + (poison - suspects.first) // part * part
    return start, min(start + part - 1, suspects.last)


@settings(max_examples=100, deadline=None)
@given(rows=st.integers(1, 10_000), size=st.integers(1, 2000), data=st.data())
def test_any_one_row_is_found_in_few_deaths_without_a_failed_attempt(hunt_in, rows, size, data):
    poison = data.draw(st.integers(0, rows - 1))
    hunt = hunt_in()
    _, watch = die(hunt, 0, 0)
    for _ in range(5):
        failures, watch = die(hunt, *called(watch, poison, rows, size))
        assert failures <= 1
        if watch.excluded:
            break
    assert [row.number for row in watch.excluded] == [poison]


def test_rows_that_kill_only_together_are_nobodys_fault_and_attempts_run_out(hunt_in):
    hunt = hunt_in()
    failures = [die(hunt, 1000, 1999)[0] for _ in range(4)]
    assert failures == [1, 1, 2, 3]
    assert hunt.last_seen(0) == "step 1 `die_on_batch` on rows 1000 to 1999"


def test_deaths_that_point_elsewhere_each_time_exclude_no_row(hunt_in):
    hunt = hunt_in()
    for number in (5, 5, 700, 30, 4000):
        failures, watch = die(hunt, number, number)
    assert watch.excluded == ()
    assert failures == 4


def test_no_mark_of_a_shard_that_was_not_finished_is_left(hunt_in):
    hunt = hunt_in()
    _, watch = die(hunt, 0, 999)
    Marker(watch.path).set(Mark(0, 0, 31, "rows 0 to 31"))
    hunt.close()
    assert not Path(watch.path).exists()


def test_without_quarantine_each_death_is_a_failed_attempt(hunt_in):
    hunt = hunt_in("raise")
    assert [die(hunt, 7, 7)[0] for _ in range(3)] == [1, 2, 3]
    assert hunt.prepared(0, Task()).watch.suspects is None


def test_there_is_an_end_to_setting_rows_aside(hunt_in):
    hunt = hunt_in()
    failures = 0
    deaths = 0
    while failures < 3:
        number = deaths // 2
        failures, _ = die(hunt, number, number)
        deaths += 1
    assert deaths <= MOST_DEATHS + 3
