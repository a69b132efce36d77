"""Runs a small job over and over on a cluster of three nodes while workers are killed and nodes are lost.

    python tests/engine/chaos.py RUNS [FIRST_SEED]

Prints one JSON line a run, and exits with 1 unless every run ended with the bytes of the undisturbed one.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

os.environ |= json.loads(Path(__file__).parents[1].joinpath("losing_nodes.json").read_text())

import psutil
import ray
from ray.cluster_utils import Cluster

import raydata_ext as rdx


def slow_length(row):
    """A step that takes a while, so that there is time to be hit."""
    time.sleep(0.06)
    return {"length": len(row["text"]), "shout": row["text"].upper()}


class Disturber(threading.Thread):
    """Kills workers with SIGKILL, and now and then takes a node away."""

    def __init__(self, seed: int, cluster: Cluster, nodes: list) -> None:
        super().__init__(daemon=True)
        self.random = random.Random(seed)
        self.cluster, self.nodes = cluster, nodes
        self.faults: list[str] = []
        self.over = threading.Event()

    def run(self) -> None:
        for _ in range(self.random.randint(1, 3)):
            while not (workers := shard_actors()):
                if self.over.wait(0.05):
                    return
            if self.over.wait(self.random.uniform(0.0, 0.6)):
                return
            if self.nodes and self.random.random() < 0.3:
                node = self.nodes.pop(self.random.randrange(len(self.nodes)))
                self.cluster.remove_node(node, allow_graceful=False)
                self.faults.append("node")
            else:
                with contextlib.suppress(ProcessLookupError):  # it ended by itself
                    os.kill(self.random.choice(workers), signal.SIGKILL)
                    self.faults.append("worker")


def shard_actors() -> list[int]:
    """Processes of this run's cluster that are workers."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if "ShardActor" in " ".join(process.cmdline()):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def compute(corpus: Path, cache: Path, executor: str) -> dict[str, bytes]:
    """Run the job and return the bytes of its result, by key."""
    lazy = rdx.scan_dataset(
        str(corpus / "*.txt"), format="text", unit="file", path_column="path", max_shard_bytes="12KB", cache_dir=cache
    ).map(slow_length)
    dataset = lazy.collect(executor=executor, workers=rdx.Workers(min=1, max=3, max_attempts=10))
    return {Path(file["filename"]).name: Path(file["filename"]).read_bytes() for file in dataset.cache_files}


def main(runs: int, first_seed: int) -> int:
    """Run the campaign and return the exit status."""
    logging.getLogger("raydata_ext").setLevel(logging.ERROR)
    root = Path(tempfile.mkdtemp(prefix="chaos-", dir="/tmp"))
    corpus = root / "corpus"
    corpus.mkdir()
    for number in range(45):
        (corpus / f"{number:02d}.txt").write_text(f"document {number}\n" * (number + 1))
    expected = compute(corpus, root / "undisturbed", "inline")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes: list = []
    ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
    failures = 0
    try:
        for seed in range(first_seed, first_seed + runs):
            while len(nodes) < 2:
                nodes.append(cluster.add_node(num_cpus=1))
            disturber = Disturber(seed, cluster, nodes)
            disturber.start()
            started = time.monotonic()
            result = compute(corpus, root / str(seed), "ray")
            disturber.over.set()
            disturber.join()
            same = result == expected
            failures += not same
            seconds = round(time.monotonic() - started, 1)
            print(json.dumps({"seed": seed, "same": same, "faults": disturber.faults, "seconds": seconds}), flush=True)
            shutil.rmtree(root / str(seed))
    finally:
        ray.shutdown()
        cluster.shutdown()
        shutil.rmtree(root)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
