"""Steps of a job that depend on what its rows are: a function from the plan so far to the plan that goes on."""

from __future__ import annotations

import io
import textwrap
from typing import TYPE_CHECKING

import pytest
import yaml
from rich.console import Console
from typer.testing import CliRunner

import raydata_ext as rdx
from raydata_ext.cli import app
from raydata_ext.engine import progress_for
from raydata_ext.errors import JobFileError
from raydata_ext.job import plan_of, read_job_file, run_job

if TYPE_CHECKING:
    from pathlib import Path

STEPS = '''
"""Steps of a test job."""

import os


def numbered(plan, collect, *, marker):
    words = sorted(set(collect(plan)["text"]))
    with open(marker, "a") as log:
        log.write("called\\n")
    return plan.map(Number, constructor_kwargs={"numbers": {word: n for n, word in enumerate(words)}})


class Number:
    def __init__(self, numbers):
        self.numbers = numbers

    def __call__(self, row):
        return {"number": self.numbers[row["text"]]}


def no_plan(plan, collect):
    return "rows"
'''


@pytest.fixture
def job(tmp_path, monkeypatch):
    """A function that reads the job, after the files of the corpus were written."""
    module = f"pipe_steps_{tmp_path.name}"
    (tmp_path / f"{module}.py").write_text(textwrap.dedent(STEPS))
    monkeypatch.chdir(tmp_path)

    def read(function: str = "numbered", **files: str):
        for name, content in files.items():
            (tmp_path / f"{name}.txt").write_text(content)
        kwargs = {"marker": str(tmp_path / "marker")} if function == "numbered" else {}
        settings = {
            "name": "piped",
            "source": {"paths": "*.txt", "format": "text", "max_shard_bytes": 4},
            "steps": [{"pipe": {"function": f"{module}:{function}", "kwargs": kwargs}}],
            "output": {"path": str(tmp_path / "out")},
            "run": {"cache_dir": str(tmp_path / "cache"), "executor": "inline"},
        }
        (tmp_path / "job.yaml").write_text(yaml.safe_dump(settings))
        return read_job_file(tmp_path / "job.yaml")

    return read


def numbers(tmp_path: Path):
    rows = rdx.load_from_disk(tmp_path / "out")
    return dict(zip(rows["text"], rows["number"], strict=True))


def test_a_step_can_be_made_of_what_all_rows_are(job, tmp_path):
    run_job(job(a="c\na\n", b="b\n"))
    assert numbers(tmp_path) == {"a": 0, "b": 1, "c": 2}


def test_what_it_found_out_is_part_of_the_key(job, tmp_path):
    run_job(job(a="c\na\n", b="b\n"))
    again = run_job(job())
    assert again.totals()["computed"] == 0
    assert not again.output["written"]
    changed = run_job(job(b="B\n"))
    assert numbers(tmp_path) == {"B": 0, "a": 1, "c": 2}
    assert changed.totals()["computed"] == changed.totals()["shards"] == 2


def test_what_it_computes_is_a_phase_of_its_own_in_the_report(job):
    report = run_job(job(a="c\na\n", b="b\n"))
    *phases, total = report.seconds
    assert (phases, total) == (["planning", "pipe steps", "computing", "writing"], "total")
    assert sum(report.seconds[phase] for phase in phases) <= report.seconds["total"]


def test_what_is_shown_of_its_work_bears_its_name(job):
    shown = io.StringIO()
    run_job(job(a="c\na\n", b="b\n"), progress=progress_for(Console(file=shown)))
    phases = [line.partition(":")[0] for line in shown.getvalue().splitlines()]
    assert phases == ["numbered, computing"] * 2 + ["computing"] * 2 + ["writing"] * 2


def test_without_a_run_the_plan_ends_in_front_of_it_and_nothing_is_called(job, tmp_path):
    plan = plan_of(job(a="c\n"))
    assert plan.plan.steps == ()
    shown = CliRunner().invoke(app, ["explain", "job.yaml"])
    assert "up to `pipe_steps_" in shown.output
    assert "the steps from there on are made when it runs" in shown.output
    assert not (tmp_path / "marker").exists()


def test_steps_that_it_made_in_an_earlier_run_are_not_said_to_be_gone(job):
    run_job(job(a="c\n"))
    job(a="d\n")
    shown = CliRunner().invoke(app, ["explain", "job.yaml"]).output
    assert "1 shards: 0 hits, 1 to compute" in shown
    assert "no longer there" not in shown


def test_what_gives_no_plan_is_named(job):
    with pytest.raises(JobFileError, match=r"steps\[0\]\.pipe: .*:no_plan' returned str; it must return a LazyDataset"):
        run_job(job("no_plan", a="c\n"))
