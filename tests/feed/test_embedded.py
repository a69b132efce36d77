"""A coordinator where Ray does not run yet: the process starts it, as for the run of a plan."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import raydata_ext as rdx
stream = rdx.Dataset.from_dict({"x": list(range(100))}).to_iterable_dataset(num_shards=4)
coordinator = rdx.StreamingCoordinator.create(stream, global_batch_size=10)
print([int(x) for batch in coordinator.feed(0, 1) for x in batch["x"]] == list(range(100)))
"""


def test_a_coordinator_needs_no_cluster_and_joins_none_that_it_was_not_told_of():
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200, check=False)
    assert done.stdout.strip() == "True", done.stderr[-3000:]
