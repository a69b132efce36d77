"""Ray, as the pool sees it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from raydata_ext.engine.ray_cluster import RayCluster

NEEDS = {"CPU": 1.0}


class SlowToStart:
    """An actor that has its place in the cluster, and is not ready before a file is there."""

    def __init__(self, gate):
        Path(gate + ".began").touch()
        deadline = time.monotonic() + 60
        while not Path(gate).exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def ready(self):
        return True


@pytest.fixture
def start(ray_session, tmp_path, wait_until):
    """Starts actors that each fill a CPU, and are not ready yet."""
    wait_until(lambda: ray_session.available_resources().get("CPU") == 2.0, "the actors of other tests to be gone")
    actors = []

    def start_one():
        gate = str(tmp_path / f"gate{len(actors)}")
        actors.append(ray_session.remote(num_cpus=1)(SlowToStart).remote(gate))
        return gate

    yield start_one
    for actor in actors:
        ray_session.kill(actor)


def test_an_actor_that_is_slow_to_start_is_none_that_waits_for_a_place(start, wait_until):
    cluster = RayCluster()
    gates = [start(), start()]
    wait_until(lambda: all(Path(gate + ".began").exists() for gate in gates), "two actors to be placed")
    assert cluster.num_unplaced(NEEDS) == 0
    start()
    wait_until(lambda: cluster.num_unplaced(NEEDS) == 1, "the third to be counted")
    assert cluster.num_unplaced({"CPU": 0.5}) == 0
