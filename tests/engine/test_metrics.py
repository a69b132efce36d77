"""Figures of a run as Ray metrics."""

from __future__ import annotations

import re
import urllib.request

import ray

from raydata_ext.engine import Silent
from raydata_ext.engine.metrics import Metered
from raydata_ext.engine.pool_status import PoolStatus


def metrics_of(phase):
    """Value of each metric of a phase, as the node of Ray hands them to Prometheus."""
    [node] = [node for node in ray.nodes() if node["Alive"]]
    url = f"http://{node['NodeManagerAddress']}:{node['MetricsExportPort']}/metrics"
    text = urllib.request.urlopen(url, timeout=10).read().decode()
    lines = [line for line in text.splitlines() if f'phase="{phase}"' in line]
    names = [re.match(r"(?:ray_)?raydata_ext_(\w+?)(?:_total)?\{", line).group(1) for line in lines]
    return {name: float(line.rpartition(" ")[2]) for name, line in zip(names, lines, strict=True)}


def test_a_phase_counts_its_shards_bytes_rows_and_workers(ray_session, wait_until):
    metered = Metered(Silent())
    metered.begin("computing test", 3, 0, 300)
    metered.watch(PoolStatus(workers=4, starting=0, running=2, rows=0, lost=1))
    metered.advance(100, 10)
    metered.advance(50, 0)
    figures = {"shards_done": 2, "bytes_in": 150, "rows_out": 10, "workers": 4, "workers_lost": 1}
    wait_until(lambda: metrics_of("computing test") == figures, "the figures of two shards")
    metered.end()
    wait_until(lambda: metrics_of("computing test") == figures | {"workers": 0}, "no workers after the end")
