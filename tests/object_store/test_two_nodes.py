"""A data set in an object store on nodes whose disks hold less than it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import raydata_ext as rdx

PROGRAM = Path(__file__).with_name("two_nodes.py")


@pytest.fixture(params=["sound line", pytest.param("every third request fails", marks=pytest.mark.slow)])
def seen(request: pytest.FixtureRequest, bucket: str, tmp_path: Path) -> dict[str, object]:
    """What came of the steps of `two_nodes`."""
    flaky = None if request.param == "sound line" else request.getfixturevalue("flaky_s3")
    environment = {**os.environ, "PYTHONPATH": str(Path(rdx.__file__).parents[1]), "HOME": str(tmp_path / "home")}
    command = [sys.executable, str(PROGRAM), bucket, str(tmp_path / "disks")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=280, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert flaky is None or flaky.failed > 100
    return json.loads(done.stdout.splitlines()[-1])


def test_steps_run_and_rows_are_read_on_any_node_within_the_bounds_of_its_disk(seen) -> None:
    assert seen["bytes"] > 1.5 * seen["limit"]
    assert all(0 < size <= seen["limit"] for size in seen["copies"].values())
    assert seen["driver_before"] == 0
    assert seen["kept_files"] == [True] * 9  # eight shards, and the indices mapping
    assert seen["rows_kept"] == 107
    assert seen["same"]
    assert seen["streamed"]
    assert (seen["nodes"], seen["on_other_nodes"]) == (2, [True, True])
