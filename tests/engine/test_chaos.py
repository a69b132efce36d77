"""Workers are killed and nodes lost at random; every run ends, with the bytes of the undisturbed one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CHAOS = Path(__file__).with_name("chaos.py")


def campaign(runs: int, seconds: float) -> list[dict]:
    done = subprocess.run(
        [sys.executable, str(CHAOS), str(runs)], capture_output=True, text=True, timeout=seconds, check=False
    )
    results = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-2000:]}"
    return results


@pytest.mark.timeout(600)
def test_twenty_disturbed_runs_give_the_bytes_of_the_undisturbed_one():
    results = campaign(20, 580)
    assert [result["same"] for result in results] == [True] * 20
    assert {"worker", "node"} == {fault for result in results for fault in result["faults"]}


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_five_hundred_disturbed_runs_give_the_bytes_of_the_undisturbed_one():
    assert all(result["same"] for result in campaign(500, 7000))
