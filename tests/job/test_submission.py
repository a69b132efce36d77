"""Jobs handed to a real Ray cluster through its dashboard."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import pytest

from raydata_ext.errors import SubmissionError
from raydata_ext.job import submit_job

HERE = {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/api/version", timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False


@pytest.fixture
def cluster(wait_until, monkeypatch):
    """A head node with a dashboard, as a child process that is ended by its id."""
    for name, value in HERE.items():
        monkeypatch.setenv(name, value)
    directory = tempfile.mkdtemp(prefix="rdxj-", dir="/tmp")
    port = free_port()
    bin_dir = str(Path(sys.executable).parent)
    process = subprocess.Popen(
        [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", "--num-cpus=2",
         f"--port={free_port()}", "--dashboard-host=127.0.0.1", f"--dashboard-port={port}",
         f"--ray-client-server-port={free_port()}", f"--dashboard-agent-listen-port={free_port()}",
         f"--metrics-export-port={free_port()}", f"--temp-dir={directory}", "--object-store-memory=100000000"],
        env={**os.environ, **HERE, "PATH": f"{bin_dir}:{os.environ['PATH']}"},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: answers(address), "the dashboard", 90)
        yield address
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        shutil.rmtree(directory, ignore_errors=True)


@pytest.mark.timeout(400)
def test_a_job_runs_on_the_cluster_and_a_failing_one_is_no_success(job, cluster):
    job.settings["run"]["executor"] = "ray"
    job.write_job()
    shown: list[str] = []
    identity = submit_job("job.yaml", cluster, working_dir=str(job.path), show=shown.append)
    assert identity
    assert "rows out" in "\n".join(shown)
    report = json.loads((job.report / "report.json").read_text())
    assert report["status"] == "complete"
    assert report["executors"] == ["ray"]
    with pytest.raises(SubmissionError, match=r"ended as FAILED, exit status 1"):
        submit_job(
            "job.yaml", cluster, working_dir=str(job.path), settings=["source.paths=/nowhere/*.txt"], show=shown.append
        )
    assert "/nowhere/*.txt" in "\n".join(shown)


def test_an_address_where_nobody_answers_is_named():
    with pytest.raises(SubmissionError, match=r"http://127\.0\.0\.1:9"):
        submit_job("job.yaml", "http://127.0.0.1:9")
