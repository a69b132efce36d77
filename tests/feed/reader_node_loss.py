"""Takes away the node on which readers have made batches that the trainer has not fetched yet.

    python tests/feed/reader_node_loss.py

Prints a JSON line: whether the batches were those of an undisturbed run.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

os.environ |= json.loads(Path(__file__).parents[1].joinpath("losing_nodes.json").read_text())

import numpy as np
import pyarrow as pa
import ray
from ray.cluster_utils import Cluster

from raydata_ext.feed.feed_state import Position
from raydata_ext.feed.plan import FeedPlan
from raydata_ext.feed.rank_batches import rank_batches
from raydata_ext.feed.reader_pool import ReaderPool
from raydata_ext.feed.share import Share
from raydata_ext.streaming import IterableDataset

STORE = 80 << 20


def widened(row: dict) -> dict:
    """Make a row so large that a batch goes through the object store."""
    return {"x": row["x"], "values": np.full(4096, row["x"])}


def main() -> int:
    """Run it and return the exit status."""
    stream = IterableDataset.from_tables([pa.table({"x": range(i, i + 50)}) for i in range(0, 200, 50)])
    plan = FeedPlan.of(stream.shuffle(3, buffer_size=10).map(widened), global_batch_size=10, num_lanes=5)
    share = Share(0, 1, 5, 10)
    expected = [batch.rows.column("x").to_pylist() for batch in rank_batches(plan.epoch(0), share)]
    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": STORE}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    node = cluster.add_node(num_cpus=1, object_store_memory=STORE)
    ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
    try:
        pool = ReaderPool(plan, Position(), share, 1)
        found = [next(pool).rows.column("x").to_pylist() for _ in range(3)]
        waiting = list(pool._calls[0])
        ray.wait(waiting, num_returns=len(waiting), fetch_local=False)
        cluster.remove_node(node, allow_graceful=False)
        cluster.add_node(num_cpus=1, object_store_memory=STORE)
        found += [batch.rows.column("x").to_pylist() for batch in pool]
        sys.stdout.write(json.dumps({"same": found == expected}) + "\n")
    finally:
        ray.shutdown()
        cluster.shutdown()
    return 0 if found == expected else 1


if __name__ == "__main__":
    sys.exit(main())
