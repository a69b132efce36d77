"""Runs a job in two groups of steps on a cluster of two nodes, one of which has a resource of its own.

    python tests/engine/two_nodes.py

Prints JSON: the node with the resource, and for each row the node where it passed each step, and how many rows the
worker there had done before.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import tempfile
import threading
from pathlib import Path

os.environ |= {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}

import ray
from ray.cluster_utils import Cluster

import raydata_ext as rdx


class Place:
    """Notes the node, and waits in its first call until there is a worker on each of so many nodes."""

    def __init__(self, column: str, directory: str, nodes: int) -> None:
        self.column, self.directory, self.nodes, self.calls = column, Path(directory), nodes, 0

    def __call__(self, row: dict) -> dict:
        node = ray.get_runtime_context().get_node_id()
        pause = threading.Event()
        if not self.calls:
            self.directory.mkdir(exist_ok=True)
            (self.directory / node).touch()
        while len(list(self.directory.iterdir())) < self.nodes:
            pause.wait(0.02)
        self.calls += 1
        return {self.column: node, f"{self.column} before": self.calls - 1}


def one_host_a_node() -> None:
    """Give the workers of each node another host name, as they have on machines of their own."""
    socket.gethostname = lambda: f"host-{ray.get_runtime_context().get_node_id()}"


def main() -> int:
    """Run the job and return the exit status."""
    root = Path(tempfile.mkdtemp(prefix="nodes-", dir="/tmp"))
    for number in range(12):
        (root / f"{number:02d}.txt").write_text("x" * (1000 - number))

    def place(column: str, nodes: int) -> dict:
        kwargs = {"column": column, "directory": str(root / column), "nodes": nodes}
        return {"function": Place, "constructor_kwargs": kwargs, "version": column}

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        special = cluster.add_node(num_cpus=1, resources={"gpu_like": 1})
        ray.init(
            address=cluster.address,
            logging_level="ERROR",
            log_to_driver=False,
            runtime_env={"worker_process_setup_hook": one_host_a_node},
        )
        lazy = rdx.scan_dataset(str(root / "*.txt"), cache_dir=root / "cache", max_shard_bytes=1000)
        lazy = lazy.map(**place("first", 2), workers=rdx.Workers(min=2, max=2, max_in_flight=1))
        lazy = lazy.map(**place("second", 2), workers=rdx.Workers(min=2, max=2, max_in_flight=1, num_cpus=0.9))
        lazy = lazy.map(**place("third", 1), workers=rdx.Workers(max=4, resources={"gpu_like": 1}))
        lazy = lazy.remove_columns("text")
        rows = list(lazy.collect(executor="ray"))
        sys.stdout.write(json.dumps({"special": special.node_id, "rows": rows}))
    finally:
        ray.shutdown()
        cluster.shutdown()
        shutil.rmtree(root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
