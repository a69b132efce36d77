"""The training example, killed in the midst of an epoch, goes on with other numbers of workers as if undisturbed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from raydata_ext.dataset import Dataset

pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tokens(tmp_path_factory):
    """A dataset directory of byte tokens."""
    root = tmp_path_factory.mktemp("tokens")
    generator = np.random.default_rng(1)
    sizes = generator.integers(10, 400, size=120).tolist()
    rows = [((size + np.arange(size)) % 256 + 3).astype(np.int32) for size in sizes]
    Dataset.from_dict({"input_ids": rows}, cache_dir=root / "cache").save_to_disk(root / "data", executor="inline")
    return root / "data"


def start(tokens, run, workers):
    command = [sys.executable, "-m", "jobs.train", "--data", tokens, "--run", run, "--workers", workers]
    options = ["--batch", 12, "--seq-length", 32, "--checkpoint-every", 4, "--cache-dir", run / "cache"]
    return subprocess.Popen(
        list(map(str, command + options)),
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


@pytest.mark.slow  # seven processes that import torch
@pytest.mark.timeout(280)
def test_killed_on_four_workers_and_resumed_on_two_then_three_it_ends_as_if_undisturbed(tokens, tmp_path, wait_until):
    whole = tmp_path / "whole"
    undisturbed = start(tokens, whole, 1)
    disturbed = tmp_path / "disturbed"
    kill_after(start(tokens, disturbed, 4), disturbed, 10, wait_until)
    kill_after(start(tokens, disturbed, 2), disturbed, 26, wait_until)
    last = start(tokens, disturbed, 3)
    for process in (undisturbed, last):
        _, errors = process.communicate(timeout=200)
        assert process.returncode == 0, errors[-3000:]
    expected, found = log_of(whole), log_of(disturbed)
    assert [entry["rows"] for entry in found] == [entry["rows"] for entry in expected]
    assert [entry["step"] for entry in found] == list(range(len(expected)))
    assert [entry["loss"] for entry in found] == pytest.approx([entry["loss"] for entry in expected], rel=1e-4)
    rows = [row for entry in found for _, row in entry["rows"]]
    assert len(set(rows)) == len(rows)
    assert found[-1]["loss"] < found[0]["loss"]
