"""A detached coordinator outlives the driver that made it, until somebody ends it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from raydata_ext.feed import CoordinatorLostError, StreamingCoordinator

DRIVER = Path(__file__).with_name("detached_driver.py")


def test_another_driver_finds_it_by_name_goes_on_and_ends_it(ray_session, oracle, shards):
    address = ray_session.get_runtime_context().gcs_address
    done = subprocess.run(
        [sys.executable, str(DRIVER), address, "kept"],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    coordinator = StreamingCoordinator.attach("kept")
    status = coordinator.status()
    assert (status["name"], status["epoch"], status["step"], status["steps"]) == ("kept", 0, 3, 40)
    found = [
        pair
        for batch in coordinator.feed(0, 1)
        for pair in zip(batch.positions.tolist(), (int(x) for x in batch["x"]), strict=True)
    ]
    assert found == list(enumerate(oracle.global_order(shards([50] * 8), 3, 0, 10, 5)))[30:]
    coordinator.shutdown()
    with pytest.raises(CoordinatorLostError, match="the coordinator 'kept' is gone"):
        coordinator.status()
    with pytest.raises(ValueError, match="kept"):
        StreamingCoordinator.attach("kept")
