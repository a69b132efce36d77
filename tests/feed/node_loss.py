"""Runs two trainers on two nodes of a cluster, takes one node away, and lets one trainer go on as the only rank.

    python tests/feed/node_loss.py DIRECTORY

Prints a JSON line: whether the node was lost, and whether the rows were those of an undisturbed run.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path

os.environ |= json.loads(Path(__file__).parents[1].joinpath("losing_nodes.json").read_text())

import pyarrow as pa
import ray
from ray.cluster_utils import Cluster
from ray.exceptions import RayActorError

from raydata_ext.feed import StreamingCoordinator
from raydata_ext.streaming import IterableDataset

BATCH, HEAD_STEPS = 10, 7


@ray.remote(num_cpus=1, max_restarts=0)
class Trainer:
    """Takes batches one by one."""

    def __init__(self, feed):
        self.feed = feed
        self.loop = iter(feed)

    def steps(self, count):
        """(position, row) of the next batches; None is all that are left."""
        found = []
        while count is None or count:
            batch = next(self.loop, None)
            if batch is None:
                break
            found += zip(batch.positions.tolist(), batch["x"], strict=True)
            count = None if count is None else count - 1
        if self.feed.epoch == 0:
            self.feed.state_dict()
        return found


def main(directory: str) -> int:
    """Run it and return the exit status."""
    stream = IterableDataset.from_tables([pa.table({"x": range(i, i + 50)}) for i in range(0, 400, 50)])
    stream = stream.shuffle(3, buffer_size=10)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
    try:
        options = {"global_batch_size": BATCH, "num_lanes": 5}
        expected = {}
        for batch in StreamingCoordinator.create(stream, **options).feed(0, 1):
            expected |= dict(zip(batch.positions.tolist(), batch["x"], strict=True))
        coordinator = StreamingCoordinator.create(stream, **options, checkpoint_dir=directory, checkpoint_every=1)
        trainers = [Trainer.remote(coordinator.feed(rank, 2)) for rank in range(2)]
        heads = ray.get([trainer.steps.remote(HEAD_STEPS) for trainer in trainers])
        cluster.remove_node(nodes.pop(), allow_graceful=False)
        pause = threading.Event()
        while sum(node["Alive"] for node in ray.nodes()) > 2:
            pause.wait(0.05)
        alive = []
        for trainer, head in zip(trainers, heads, strict=True):
            try:
                head.extend(ray.get(trainer.steps.remote(1)))
                alive.append(trainer)
            except RayActorError:
                continue
        for trainer in alive:
            ray.kill(trainer)  # as a training run does that has lost a rank
        rest = ray.get(Trainer.remote(coordinator.feed(0, 1)).steps.remote(None))
        found = dict(pair for head in heads for pair in head)
        first = min(position for position, _ in rest)
        same = first == HEAD_STEPS * BATCH and {**found, **dict(rest)} == expected == {**dict(rest), **found}
        lost = len(trainers) - len(alive)
        sys.stdout.write(json.dumps({"same": same, "lost": lost == 1}) + "\n")
    finally:
        ray.shutdown()
        cluster.shutdown()
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
