"""The training example, killed in the midst of an epoch, goes on with other numbers of workers as if undisturbed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from raydata_ext.job import read_job_file, run_job

pytest.importorskip("torch")
train_job = pytest.importorskip("jobs.train")

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tokens(tmp_path):
    """The output of the quickstart over a small part of its corpus."""
    settings = {
        "source.paths": "${stdlib}/json/*.py",
        "output.path": tmp_path / "quickstart",
        "run.cache_dir": tmp_path / "cache",
        "run.executor": "inline",
    }
    done = run_job(read_job_file(ROOT / "jobs" / "quickstart.yaml", [f"{k}={v}" for k, v in settings.items()]))
    assert done.as_dict()["status"] == "complete"
    return tmp_path / "quickstart"


def options_of(tokens, run, workers):
    options = ["--batch", 12, "--seq-length", 64, "--checkpoint-every", 4, "--cache-dir", run / "cache"]
    return list(map(str, ["--data", tokens, "--run", run, "--workers", workers, *options]))


def start(tokens, run, workers):
    return subprocess.Popen(
        [sys.executable, "-m", "jobs.train", *options_of(tokens, run, workers)],
        cwd=ROOT,
        env={**os.environ, "RAY_AUTH_MODE": "disabled"},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def log_of(run):
    path = run / "log.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]


def kill_after(process, run, steps, wait_until):
    wait_until(lambda: len(log_of(run)) >= steps or process.poll() is not None, f"{steps} steps", 90)
    assert process.poll() is None, process.stderr.read()[-3000:]
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.mark.slow  # three drivers with workers that import torch
@pytest.mark.timeout(280)
def test_killed_on_four_workers_and_resumed_on_two_then_three_it_ends_as_if_undisturbed(
    ray_session, tokens, tmp_path, wait_until
):
    whole, disturbed = tmp_path / "whole", tmp_path / "disturbed"
    train_job.Training(train_job.settings_of(options_of(tokens, whole, 1), None)).run()
    kill_after(start(tokens, disturbed, 4), disturbed, 10, wait_until)
    kill_after(start(tokens, disturbed, 2), disturbed, 26, wait_until)
    last = start(tokens, disturbed, 3)
    _, errors = last.communicate(timeout=200)
    assert last.returncode == 0, errors[-3000:]
    expected, found = log_of(whole), log_of(disturbed)
    assert [entry["rows"] for entry in found] == [entry["rows"] for entry in expected]
    assert [entry["step"] for entry in found] == list(range(len(expected)))
    assert [entry["loss"] for entry in found] == pytest.approx([entry["loss"] for entry in expected], rel=1e-4)
    rows = [row for entry in found for _, row in entry["rows"]]
    assert len(set(rows)) == len(rows)
    assert found[-1]["loss"] < found[0]["loss"]
