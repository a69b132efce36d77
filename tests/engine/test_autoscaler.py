"""A pool that may have more workers than there is room for makes the autoscaler of the cluster add nodes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("autoscaler.py")


@pytest.mark.slow  # a head with Ray's autoscaler and two nodes that it starts: half a minute on two cores
@pytest.mark.timeout(300)
def test_workers_that_wait_for_room_make_the_autoscaler_start_nodes_which_the_run_uses():
    done = subprocess.run([sys.executable, str(PROGRAM)], capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    nodes = Counter(json.loads(done.stdout))
    assert (len(nodes), nodes.total()) == (3, 12)
