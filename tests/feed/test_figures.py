"""What a feed measures of itself adds up, and reaches whoever collects the metrics of Ray."""

from __future__ import annotations

import json
import re
import urllib.request

import numpy as np
import pyarrow as pa
import ray

from raydata_ext.feed import StreamingCoordinator
from raydata_ext.feed.figures import Figures
from raydata_ext.feed.rank_batches import RankBatch, Work


def test_work_and_deliveries_add_up():
    figures = Figures()
    rows = pa.RecordBatch.from_pydict({"x": np.arange(10)})
    for step, work in enumerate([Work(2.0, 1.5, 80, 160, (0, 3)), Work(1.0, 0.5, 40, 0, (3, 4))]):
        batch = RankBatch(step, rows, np.arange(10), None, None, work)
        figures.made(batch, 0.25)
        figures.delivered(batch, waited=0.5 * step, ready=step)
    assert figures.as_dict() == {
        "batches": 2,
        "rows": 20,
        "bytes": 160,
        "bytes_read": 120,
        "shards_read": 3,
        "wait_seconds": 0.5,
        "read_seconds": 2.0,
        "transform_seconds": 1.0,
        "format_seconds": 0.5,
        "stalls": 1,
        "queue_depth": 1,
    }
    assert json.loads(json.dumps(figures.as_dict())) == figures.as_dict()


def metrics_of(feed):
    """Value of each metric of a feed, by name and rank, as the node of Ray hands them to Prometheus."""
    [node] = [node for node in ray.nodes() if node["Alive"]]
    url = f"http://{node['NodeManagerAddress']}:{node['MetricsExportPort']}/metrics"
    text = urllib.request.urlopen(url, timeout=10).read().decode()
    found = {}
    for line in text.splitlines():
        if f'feed="{feed}"' in line:
            name = re.match(r"(?:ray_)?raydata_ext_feed_(\w+?)(?:_total)?\{", line).group(1)
            rank = re.search(r'rank="(\d+)"', line).group(1)
            found[name, int(rank)] = float(line.rpartition(" ")[2])
    return found


def test_the_figures_of_each_rank_are_metrics_of_ray(ray_session, numbered, wait_until):
    coordinator = StreamingCoordinator.create(
        numbered([40] * 6, 1).map(lambda row: {"y": row["x"]}), global_batch_size=24, num_lanes=4, name="measured"
    )
    feeds = [coordinator.feed(rank, 2) for rank in range(2)]
    for feed in feeds:
        assert len(list(feed)) == 10
    figures = [feed.figures for feed in feeds]
    for rank, found in enumerate(figures):
        assert (found["rows"], found["bytes_read"], found["batches"]) == (120, 120 * 8, 10)
        assert found["bytes"] == 2 * found["bytes_read"]
        assert 3 <= found["shards_read"] <= 5
        assert found["read_seconds"] > 0 < found["transform_seconds"]
        status = coordinator.status()["ranks"][rank]
        assert {name: status[name] for name in found} == found

    def are_collected():
        found = metrics_of("measured")
        return all(found.get(("rows", rank)) == 120 and ("shards_read", rank) in found for rank in range(2))

    wait_until(are_collected, "the metrics")
    found = metrics_of("measured")
    for rank in range(2):
        assert found["bytes_read", rank] == 120 * 8
        assert found["shards_read", rank] == figures[rank]["shards_read"]
        assert found["wait_seconds", rank] > 0
    coordinator.shutdown()


def test_figures_of_readers_are_those_of_their_rank(ray_session, numbered):
    coordinator = StreamingCoordinator.create(numbered([40] * 6, 1), global_batch_size=24, num_lanes=4)
    feed = coordinator.feed(0, 1, readers=1)
    assert len(list(feed)) == 10
    assert (feed.figures["bytes_read"], feed.figures["shards_read"]) == (240 * 8, 6)
    coordinator.shutdown()
