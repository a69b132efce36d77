"""Workers of single steps in a job file, and reports of runs that end early."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from raydata_ext import Workers
from raydata_ext.errors import JobFileError
from raydata_ext.job import plan_of, read_job_file


def invoke(*arguments):
    from raydata_ext.cli import app

    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def output_of(job):
    return {path.name: path.read_bytes() for path in job.output.glob("*.arrow")}


def test_a_step_may_have_workers_of_its_own(job):
    job.settings["steps"][0]["filter"]["workers"] = 2
    job.settings["steps"][1]["map"]["workers"] = {"max": 3, "num_gpus": 1, "memory": "2GB", "max_in_flight": 1}
    job.write_job()
    steps = plan_of(read_job_file(job.job_file)).plan.steps
    assert [step.workers for step in steps] == [
        Workers(min=2, max=2),
        Workers(max=3, num_gpus=1, memory=2_000_000_000, max_in_flight=1),
    ]
    explained = invoke("explain", job.job_file).output
    assert "on Workers(max=3, num_gpus=1, memory=2000000000, max_in_flight=1):" in explained


def test_a_job_gives_the_same_bytes_with_and_without_workers_of_steps(job):
    assert invoke("run", job.job_file).exit_code == 0
    fused = output_of(job)
    job.settings["steps"][1]["map"]["workers"] = {"max": 1}
    job.settings["output"]["path"] = str(job.path / "grouped")
    job.settings["run"]["cache_dir"] = str(job.path / "other")
    job.write_job()
    assert invoke("run", job.job_file).exit_code == 0
    assert {path.name: path.read_bytes() for path in (job.path / "grouped").glob("*.arrow")} == fused
    report = json.loads((job.path / "grouped.run" / "report.json").read_text())
    assert report["totals"]["rows_in"] == report["totals"]["rows_out"] + report["totals"]["filtered"] == 40


@pytest.mark.parametrize("kind", ["map", "filter"])
def test_a_wrong_setting_of_workers_is_named_with_its_line_and_meaning(job, kind):
    [section] = [step[kind] for step in job.settings["steps"] if kind in step]
    section["workers"] = {"num_gpu": 1}
    job.write_job()
    line = 1 + [text.strip() for text in job.job_file.read_text().splitlines()].index("num_gpu: 1")
    with pytest.raises(
        JobFileError, match=rf"line {line}: steps\[\d\]\.{kind}\.workers\.num_gpu: unknown key.*num_gpus"
    ):
        read_job_file(job.job_file)


def test_the_report_of_a_failed_run_holds_the_shards_that_were_done(job):
    job.write_steps(
        """
        def check(row, path):
            if row["path"].endswith(path):
                raise ValueError("no")
            return row
        """
    )
    section = {"function": f"{job.module}:check", "kwargs": {"path": "nowhere"}}
    job.settings["steps"] = [{"map": section}]
    job.write_job()
    last = min(plan_of(read_job_file(job.job_file)).plan.shards, key=lambda shard: shard.num_bytes)
    section["kwargs"]["path"] = last.pieces[0].file.name
    job.write_job()
    assert invoke("run", job.job_file).exit_code != 0
    report = json.loads((job.report / "report.json").read_text())
    assert report["status"] == "failed"
    assert report["executors"] == ["inline"]
    done = [shard for shard in report["shards"] if shard.get("complete")]
    assert 0 < len(done) < report["source"]["shards"]
    assert report["totals"]["rows_out"] == sum(shard["rows_out"] for shard in done) > 0
