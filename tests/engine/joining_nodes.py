"""Runs maps and an export, their cache under a URL, on a cluster of one node, to which others are added in mid-run.

    python tests/engine/joining_nodes.py

Each node has a host name and a disk of its own. Prints JSON: for each run the host that made each shard, according to
its receipt, and the files that the nodes fetched.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

os.environ |= {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}

import pyarrow as pa
import ray
from ray.cluster_utils import Cluster

import raydata_ext as rdx
from raydata_ext.dataset.export_files import write_files
from raydata_ext.dataset.export_run import export_run
from raydata_ext.store import open_directory

if TYPE_CHECKING:
    from collections.abc import Iterable

SHARDS = 12
PATIENCE_SECONDS = 100
"""After so long a shard is done all the same, so that what went wrong is seen and not waited for."""


def as_on_a_machine_of_its_own() -> None:
    """Give the workers of each node another host name, and the files under `counted://`."""
    name = f"host-{ray.get_runtime_context().get_node_id()}"
    socket.gethostname = lambda: name
    sys.path.append(os.environ["MODULES"])
    importlib.import_module("counted_files")


class InStep:
    """Lets the workers take shards in turn: nobody has a second one before everybody, of so many hosts, has a first."""

    def __init__(self, directory: str, hosts: int) -> None:
        self.directory, self.hosts = Path(directory), hosts

    def __call__(self, row: dict) -> dict:
        self.wait()
        return {"text": row["text"] + "."}

    def write(self, path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
        """The rows as a file, as `write_files` asks for it."""
        with pa.ipc.new_file(path, schema) as file:
            for batch in batches:
                file.write_batch(batch)
        self.wait()

    def wait(self) -> None:
        """Wait until all hosts have as many shards as this one."""
        pause = threading.Event()
        turns = (self.directory / str(number) for number in itertools.count())
        turn = next(turn for turn in turns if not (turn / socket.gethostname()).exists())
        turn.mkdir(parents=True, exist_ok=True)
        (turn / socket.gethostname()).touch()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(list(turn.iterdir())) < self.hosts and time.monotonic() < deadline:
            pause.wait(0.02)


def environment(root: Path, node: str) -> dict[str, str]:
    """The environment of a node with a disk of its own."""
    return {**os.environ, "RAYDATA_EXT_LOCAL_DIR": str(root / "disks" / node)}


def run(root: Path, cluster: Cluster) -> dict[str, object]:
    """All runs, and what is to be seen of them."""
    fetched = Path(os.environ["FETCHED"])

    def in_step(name: str, hosts: int) -> dict:
        return {"function": InStep, "constructor_kwargs": {"directory": str(root / name), "hosts": hosts}}

    def files_fetched() -> dict[str, list[str]]:
        return {log.name: log.read_text().split() for log in fetched.iterdir() if log.name.startswith("host-")}

    scan = rdx.scan_dataset(str(root / "*.txt"), unit="file", max_shard_bytes=1000, cache_dir=f"counted://{root}/cache")
    up_to_three = rdx.Workers(min=1, max=3, max_in_flight=1)
    with ThreadPoolExecutor() as threads:  # nodes can be added by the main thread only
        running = threads.submit(
            scan.map(**in_step("first", 3), version="1").collect, executor="ray", workers=up_to_three
        )
        add_nodes(cluster, root, ["one", "two"], once=root / "first" / "0")
        first = running.result()
    second = first.map(**in_step("second", 3), version="2", executor="ray", workers=up_to_three)
    seen = {"first": homes(first), "second": homes(second), "fetched of shards in place": files_fetched()}
    with export_run("ray", up_to_three, second.parts.workspace.store, None) as export:
        groups = [[shard] for shard in second.shards]
        written = open_directory(root / "written")
        files = write_files(written, ".arrow", groups, second.schema, InStep(str(root / "third"), 3), export)
    seen |= {"files written": len(files), "fetched of shards that are written": files_fetched()}
    shuffled = second.shuffle(seed=1).map(**in_step("fourth", 1), version="3", executor="ray", workers=up_to_three)
    seen |= {"shuffled": homes(shuffled), "fetched of shuffled rows": files_fetched()}
    as_many_as_there_is_room_for = rdx.Workers(min=1, max_in_flight=1)
    with ThreadPoolExecutor() as threads:
        plan = second.lazy().map(**in_step("fifth", 4), version="4")
        running = threads.submit(plan.collect, executor="ray", workers=as_many_as_there_is_room_for)
        add_nodes(cluster, root, ["three"], once=root / "fifth" / "0")
        return {**seen, "last": homes(running.result())}


def add_nodes(cluster: Cluster, root: Path, names: list[str], *, once: Path) -> None:
    """Add nodes once a worker is at work, which makes a directory."""
    pause = threading.Event()
    while not once.exists():
        pause.wait(0.05)
    for name in names:
        cluster.add_node(num_cpus=1, env_vars=environment(root, name))


def homes(dataset: rdx.Dataset) -> list[str]:
    """The host that made each shard."""
    return [shard.home for shard in dataset.shards]


def main() -> int:
    """Run it and return the exit status."""
    root = Path(tempfile.mkdtemp(prefix="joining-", dir="/tmp"))
    for number in range(SHARDS):
        (root / f"{number:02d}.txt").write_text("x" * (1000 - number))
    (root / "fetched").mkdir()
    os.environ |= {
        "FETCHED": str(root / "fetched"),
        "MODULES": str(Path(__file__).parent),
        "RAYDATA_EXT_LOCAL_DIR": str(root / "disks" / "driver"),
    }
    importlib.import_module("counted_files")
    head = {"num_cpus": 1, "include_dashboard": False, "env_vars": environment(root, "head")}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        hook = {"worker_process_setup_hook": as_on_a_machine_of_its_own}
        ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False, runtime_env=hook)
        sys.stdout.write(json.dumps(run(root, cluster)))
    finally:
        ray.shutdown()
        cluster.shutdown()
        shutil.rmtree(root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
