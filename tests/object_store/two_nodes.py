"""Runs a chain of steps over a corpus in an object store on two nodes whose disks hold less than the data set.

    python tests/object_store/two_nodes.py BUCKET_URL DIRECTORY

Cache and output are in the bucket. Each node and the driver keep their copies in a directory of their own below
DIRECTORY. Prints a JSON line that says what came of it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

os.environ |= {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}

import fsspec
import ray
from ray.cluster_utils import Cluster

import raydata_ext as rdx
from raydata_ext.dataset import indices

SHARDS, ROWS = 8, 40
TEXT = "x" * 500  # rows of this size are selected by an indices mapping
LIMIT = 90_000
"""Bytes of copies on each disk: four of the eight shards of some 22 kB."""


def double(row):
    return {"n": 2 * row["n"], "text": row["text"]}


def by_three(row):
    return row["n"] % 3 == 0


def with_length(row):
    return {"length": len(row["text"])}


@ray.remote(num_cpus=1)
class Reader:
    """Reads a data set on whatever node it is."""

    def __init__(self, data):
        self.data = data

    def rows(self):
        """Its numbers in order, and some rows from anywhere."""
        return self.data["n"][:], self.data[[-1, 0, 17]]["n"]

    def local_dir(self):
        """Where this node keeps its copies."""
        return os.environ["RAYDATA_EXT_LOCAL_DIR"]


def copies(directory: Path) -> int:
    """Bytes of the copies in a directory."""
    return sum(path.stat().st_size for path in directory.glob("*.arrow"))


def main(bucket: str, root: Path) -> None:
    """Run it."""
    disks = {name: root / name for name in ("driver", "one", "two")}
    settings = {
        name: {"RAYDATA_EXT_LOCAL_DIR": str(disk), "RAYDATA_EXT_MAX_LOCAL_BYTES": str(LIMIT)}
        for name, disk in disks.items()
    }
    indices.MAX_BYTES_IN_MEMORY = 64  # so that small mappings, too, are files
    s3 = fsspec.filesystem("s3")
    for shard in range(SHARDS):
        numbers = range(shard * ROWS, (shard + 1) * ROWS)
        lines = "".join(json.dumps({"n": number, "text": TEXT}) + "\n" for number in numbers)
        s3.pipe(f"{bucket}/c/{shard}.jsonl", lines.encode())
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for name in ("one", "two"):
        cluster.add_node(num_cpus=1, env_vars={**os.environ, **settings[name]})
    os.environ |= settings["driver"]
    ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
    try:
        sys.stdout.write(json.dumps(run(bucket, disks)) + "\n")
    finally:
        ray.shutdown()
        cluster.shutdown()


def run(bucket: str, disks: dict[str, Path]) -> dict[str, object]:
    """All steps, and what is to be seen of them."""
    on_ray = {"executor": "ray", "workers": rdx.Workers(min=2, max=2, num_cpus=0.5)}
    plan = rdx.scan_dataset(f"{bucket}/c", cache_dir=f"{bucket}/cache", max_shard_bytes="25KB").map(double)
    doubled = plan.collect(**on_ray)
    seen: dict[str, object] = {"limit": LIMIT, "bytes": sum(shard.num_bytes for shard in doubled.shards)}
    seen["driver_before"] = copies(disks["driver"])
    kept = doubled.filter(by_three, **on_ray)
    seen["rows_kept"] = len(kept)
    seen["kept_files"] = [file["filename"].startswith(f"{bucket}/cache/") for file in kept.cache_files]
    every_second = kept.shuffle(seed=1).select(range(0, len(kept), 2)).sort("n")
    measured = every_second.map(with_length, **on_ray)
    measured.save_to_disk(f"{bucket}/out", max_shard_bytes="10KB", **on_ray)
    loaded = rdx.load_from_disk(f"{bucket}/out", cache_dir=f"{bucket}/cache")
    expected = sorted(kept.shuffle(seed=1).select(range(0, len(kept), 2))["n"])
    seen["same"] = [row["n"] for row in loaded] == expected == measured["n"][:]
    stream = loaded.to_iterable_dataset().shuffle(seed=2, buffer_size=20)
    seen["streamed"] = sorted(row["n"] for row in stream) == expected
    readers = [Reader.options(scheduling_strategy="SPREAD").remote(doubled) for _ in range(2)]
    alike = list(range(0, 2 * SHARDS * ROWS, 2))
    found = ray.get([reader.rows.remote() for reader in readers])
    seen["on_other_nodes"] = [one == (alike, [alike[-1], 0, 34]) for one in found]
    seen["nodes"] = len(set(ray.get([reader.local_dir.remote() for reader in readers])))
    seen["copies"] = {name: copies(disk) for name, disk in disks.items()}
    return seen


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
