"""Where steps run in a cluster: on the nodes that have what they need, and on those that have their input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

TWO_NODES = Path(__file__).with_name("two_nodes.py")


@pytest.fixture(scope="module")
def job():
    done = subprocess.run([sys.executable, str(TWO_NODES)], capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.timeout(300)
def test_steps_run_on_the_nodes_that_have_the_resources_of_their_workers(job):
    assert len(job["rows"]) == 12
    assert {row["third"] for row in job["rows"]} == {job["special"]}
    assert len({row["first"] for row in job["rows"]}) == 2


@pytest.mark.timeout(300)
def test_a_free_worker_takes_first_what_its_node_has_computed(job):
    begun = [row for row in job["rows"] if row["second before"] == 0]
    assert len({row["second"] for row in begun}) == 2
    assert all(row["second"] == row["first"] for row in begun)
