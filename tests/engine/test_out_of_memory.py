"""Ray's memory monitor ends workers: the run goes on with fewer at a time, or names the shard that is too much."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

SCRIPT = Path(__file__).with_name("out_of_memory.py")
FITS_ALONE = 1_300_000_000
FITS_NEVER = 4_500_000_000

pytestmark = [pytest.mark.timeout(180), pytest.mark.xdist_group("memory")]  # it is the machine that runs out of it


@pytest.fixture
def run():
    """Runs the job with steps of some bytes in a process of its own; what it says."""
    if psutil.virtual_memory().available < 8_000_000_000:
        pytest.skip("there is too little memory to run out of some of it on purpose")
    directory = Path(tempfile.mkdtemp(prefix="oom-", dir="/tmp"))  # short: Ray's sockets lie in it

    def run_job(num_bytes: int) -> dict:
        command = [sys.executable, str(SCRIPT), str(num_bytes), str(directory)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=170, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout.splitlines()[-1])

    yield run_job
    shutil.rmtree(directory)


def test_shards_that_fit_one_at_a_time_are_done_by_fewer_workers(run):
    result = run(FITS_ALONE)
    assert [row["text"] for row in result["rows"]] == [f"document {number}" for number in range(5)], result
    assert {row["held"] for row in result["rows"]} == {FITS_ALONE}
    assert result["lost"] > 0
    assert result["sizes"][-1] < 3


def test_a_shard_that_never_fits_is_named_with_cause_and_remedy(run):
    result = run(FITS_NEVER)
    said = r"WorkerLostError: /tmp/oom-\S+/\d\.txt: its worker died in each of \d+ attempts, in step 1 `Occupy` on \S+"
    cause = r"the last time \(worker \S+\): out of memory: .*Let each worker have more"
    assert re.search(rf"{said}: row 0; {cause}", result["error"])
    assert len(result["error"]) < 1000
