"""Starts a detached coordinator in a cluster that runs already, and ends.

python tests/feed/detached_driver.py ADDRESS NAME
"""

from __future__ import annotations

import sys

import pyarrow as pa
import ray

from raydata_ext.feed import StreamingCoordinator
from raydata_ext.streaming import IterableDataset

if __name__ == "__main__":
    address, name = sys.argv[1:]
    ray.init(address=address, logging_level="ERROR", log_to_driver=False)
    stream = IterableDataset.from_tables([pa.table({"x": range(i, i + 50)}) for i in range(0, 400, 50)])
    coordinator = StreamingCoordinator.create(
        stream.shuffle(3, buffer_size=10), global_batch_size=10, num_lanes=5, name=name, detached=True
    )
    loop = iter(coordinator.feed(0, 1))
    for _ in range(3):
        next(loop)
    loop.close()
