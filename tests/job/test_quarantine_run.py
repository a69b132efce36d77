"""A job with `on_error: quarantine`: its summary, its report and its files of records."""

from __future__ import annotations

import json
import os
import re

import pytest
from typer.testing import CliRunner

import raydata_ext as rdx
from raydata_ext.errors import JobFileError
from raydata_ext.job import read_job_file, run_job
from raydata_ext.store import Store

STEPS = """
def number_of(row):
    return int(row["path"].partition("doc")[2][:2])


def check(row):
    if number_of(row) in (7, 13):
        raise ValueError(f"document {number_of(row)} is bad")


def keep_even(row):
    return number_of(row) % 2 == 0, "odd"


def repeat(batch):
    return {"path": [path for path in batch["path"] for _ in range(3)]}


def number(row, index):
    return {"index": index}
"""


@pytest.fixture
def quarantining(job):
    """The job with steps of which one fails on two documents, and a document that is not UTF-8."""
    job.write_steps(STEPS)
    job.settings["steps"] = [{"map": {"function": f"{job.module}:check"}}]
    job.settings["run"] |= {"on_error": "quarantine", "max_errors": 0.2}
    undecodable = job.corpus / "part0" / "doc40.txt"
    undecodable.write_bytes(b"caf\xe9")
    os.utime(undecodable, ns=(0, 1_700_000_000_123_456_789))  # as the rest of the corpus: its time stamp is trusted
    job.write_job()
    return job


def invoke(*arguments):
    from raydata_ext.cli import app

    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def report_of(job):
    return json.loads((job.report / "report.json").read_text())


def records_of(job):
    paths = sorted((job.report / "quarantine").glob("part-*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


@pytest.mark.parametrize("runs", [1, 2])
def test_the_report_counts_and_shows_what_was_set_aside_computed_or_cached(quarantining, runs):
    for _ in range(runs):
        done = invoke("run", quarantining.job_file)
        assert done.exit_code == 0, done.output
    report, records = report_of(quarantining), records_of(quarantining)
    assert report["totals"]["computed"] == (0 if runs > 1 else report["totals"]["shards"])
    assert len(rdx.load_from_disk(quarantining.output)) == report["totals"]["rows_out"] == 38
    assert report["totals"]["quarantined"] == len(records) == 3
    assert report["quarantine_samples"] == records
    assert {record["source"].rpartition("/")[2] for record in records} == {"doc07.txt", "doc13.txt", "doc40.txt"}
    for figures in (report["totals"], *report["shards"]):
        filtered = figures["filtered"] if isinstance(figures["filtered"], int) else sum(figures["filtered"].values())
        assert figures["rows_in"] + figures["rows_added"] == figures["rows_out"] + filtered + figures["quarantined"]
        assert figures["rows_added"] == 0
    keys = [key for shard in report["shards"] for key in shard["quarantine_keys"]]
    assert set(Store.open(quarantining.cache).find(keys)) == set(keys) != set()
    assert re.search(r"quarantined\W+3", done.output)
    assert "document 7 is bad" in (quarantining.report / "report.html").read_text()


def test_records_of_an_earlier_run_do_not_stay(quarantining):
    invoke("run", quarantining.job_file)
    assert records_of(quarantining)
    done = invoke("run", quarantining.job_file, "--set", "steps=[]", "--set", "source.options.encoding=latin-1")
    assert done.exit_code == 0, done.output
    assert not (quarantining.report / "quarantine").exists()


def test_figures_of_all_parts_add_up_where_steps_filter_and_add_rows(quarantining):
    names = ("check", "keep_even", "repeat", "number")
    steps = {name: {"map": {"function": f"{quarantining.module}:{name}"}} for name in names}
    steps["keep_even"] = {"filter": steps["keep_even"]["map"]}
    steps["repeat"]["map"] |= {"batched": True, "remove_columns": ["text"]}
    steps["number"]["map"]["with_indices"] = True
    quarantining.settings["steps"] = list(steps.values())
    quarantining.write_job()
    report = run_job(read_job_file(quarantining.job_file)).as_dict()
    totals = report["totals"]
    assert (totals["rows_in"], totals["filtered"], totals["quarantined"], totals["rows_out"]) == (41, 18, 3, 60)
    assert totals["rows_in"] + totals["rows_added"] == 60 + 18 + 3
    for step in report["steps"]:
        if "repeat" not in step["step"]:
            assert step["rows_in"] == step["rows_out"] + sum(step["filtered"].values()) + step["quarantined"]
    rows = rdx.load_from_disk(quarantining.output)
    assert rows["index"] == list(range(60))


def test_too_many_bad_rows_end_the_job(quarantining):
    done = invoke("run", quarantining.job_file, "--set", "run.max_errors=2")
    assert done.exit_code != 0
    report = report_of(quarantining)
    assert report["status"] == "failed"
    assert "3 rows were set aside" in report["error"]
    assert "max_errors is 2" in report["error"]
    assert report["quarantine_samples"] == records_of(quarantining)
    assert len(records_of(quarantining)) == report["totals"]["quarantined"] == 3


def test_rows_of_the_shard_at_which_the_limit_was_passed_are_shown_too(quarantining):
    settings = ["run.max_errors=1", "source.max_shard_bytes=10MB"]
    done = invoke("run", quarantining.job_file, *(word for setting in settings for word in ("--set", setting)))
    assert done.exit_code != 0
    report, records = report_of(quarantining), records_of(quarantining)
    assert "2 rows were set aside" in report["error"]
    assert report["quarantine_samples"] == records
    assert len(records) == 2
    assert report["shards"] == []
    assert "row_json" in (quarantining.report / "report.html").read_text()


def test_explain_asks_for_the_run_that_the_job_stands_for(quarantining):
    invoke("run", quarantining.job_file)
    assert "0 to compute" in invoke("explain", quarantining.job_file).output
    raising = invoke("explain", quarantining.job_file, "--set", "run.on_error=raise", "--set", "run.max_errors=null")
    assert "0 to compute" not in raising.output
    assert "were set aside" in raising.output


@pytest.mark.parametrize("setting", ["run.on_error=ignore", "run.max_errors=-1", "run.max_errors=1.5"])
def test_settings_that_mean_nothing_are_refused_with_their_key(quarantining, setting):
    with pytest.raises(JobFileError, match="run"):
        read_job_file(quarantining.job_file, [setting])
