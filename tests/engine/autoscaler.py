"""Runs a job on a cluster of one node whose autoscaler, Ray's own, adds nodes where workers wait for room.

    python tests/engine/autoscaler.py

The nodes that it adds are processes of this machine. Prints JSON: the node on which each row passed the step.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

os.environ |= {
    "RAY_AUTH_MODE": "disabled",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_FAKE_CLUSTER": "1",
    "RAY_enable_autoscaler_v2": "1",
    "AUTOSCALER_UPDATE_INTERVAL_S": "1",
}

import psutil
import ray
from ray.autoscaler._private.fake_multi_node.node_provider import FAKE_HEAD_NODE_ID

import raydata_ext as rdx

NODES = 3


class Place:
    """Notes the node, and waits in its first call until there are workers on all nodes."""

    def __init__(self, directory: str) -> None:
        self.directory = Path(directory)

    def __call__(self, row: dict) -> dict:
        node = ray.get_runtime_context().get_node_id()
        pause = threading.Event()
        (self.directory / node).touch()
        while len(list(self.directory.iterdir())) < NODES:
            pause.wait(0.05)
        return {"node": node}


def configuration(gcs_address: str) -> dict:
    """The autoscaler's: up to two nodes of one CPU beside the head."""
    commands = (
        "initialization_commands", "setup_commands", "head_setup_commands", "worker_setup_commands",
        "head_start_ray_commands", "worker_start_ray_commands", "cluster_synced_files", "rsync_exclude", "rsync_filter",
    )  # fmt: skip
    return {
        "cluster_name": "fake",
        "max_workers": NODES - 1,
        "idle_timeout_minutes": 5,
        "upscaling_speed": 1.0,
        "provider": {
            "type": "external",
            "module": "ray.autoscaler._private.fake_multi_node.node_provider.FakeMultiNodeProvider",
            "disable_node_updaters": True,
            "disable_launch_config_check": True,
            "gcs_address": gcs_address,
            "head_node_id": FAKE_HEAD_NODE_ID,
            "launch_multiple": True,
        },
        "auth": {},
        "docker": {},
        "file_mounts": {},
        "file_mounts_sync_continuously": False,
        "head_node_type": "ray.head.default",
        "available_node_types": {
            "ray.head.default": {"resources": {"CPU": 1}, "node_config": {}, "max_workers": 0},
            "worker": {"resources": {"CPU": 1}, "node_config": {}, "min_workers": 0, "max_workers": NODES - 1},
        },
        **{name: [] for name in commands},
    }


@contextlib.contextmanager
def cluster(root: Path):
    """The cluster, as its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"{ray.util.get_node_ip_address()}:{port}"
    (root / "autoscaler.json").write_text(json.dumps(configuration(address)))
    command = [
        str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", f"--port={port}", "--num-cpus=1",
        "--include-dashboard=false", f"--temp-dir={root / 'ray'}", f"--autoscaling-config={root / 'autoscaler.json'}",
    ]  # fmt: skip
    with (root / "head.log").open("wb") as log:
        node = {"RAY_CLOUD_INSTANCE_ID": FAKE_HEAD_NODE_ID, "RAY_OVERRIDE_NODE_ID_FOR_TESTING": FAKE_HEAD_NODE_ID}
        head = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **node})
    pause = threading.Event()
    try:
        while b"Ray runtime started" not in (root / "head.log").read_bytes():
            assert head.poll() is None, (root / "head.log").read_text()
            pause.wait(0.1)
        yield address
    finally:
        started = psutil.Process(head.pid).children(recursive=True) if head.poll() is None else []
        head.terminate()
        head.wait(60)
        for process in started:  # the nodes that were added do not end with the head
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()


def main() -> int:
    """Run the job and return the exit status."""
    root = Path(tempfile.mkdtemp(prefix="scale-", dir="/tmp"))
    (root / "nodes").mkdir()
    for number in range(12):
        (root / f"{number:02d}.txt").write_text("x" * (1000 - number))
    try:
        with cluster(root) as address:
            ray.init(address=address, logging_level="ERROR", log_to_driver=False)
            lazy = rdx.scan_dataset(str(root / "*.txt"), cache_dir=root / "cache", max_shard_bytes=1000)
            lazy = lazy.map(Place, constructor_kwargs={"directory": str(root / "nodes")}, version="1")
            rows = list(lazy.collect(executor="ray", workers=rdx.Workers(min=1, max=NODES, max_in_flight=1)))
            sys.stdout.write(json.dumps([row["node"] for row in rows]))
            ray.shutdown()
    finally:
        shutil.rmtree(root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
