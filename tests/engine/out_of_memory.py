"""Runs a job on a Ray whose memory monitor ends workers, since the steps take more memory than there may be.

    python tests/engine/out_of_memory.py BYTES_OF_A_STEP DIRECTORY

Ray's limit is set 3 GB above what the machine has in use when this starts. Prints one line of JSON: the rows and the
workers at a time, or the error.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

os.environ |= {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0", "RAY_memory_monitor_refresh_ms": "100"}

import psutil
import ray

import raydata_ext as rdx
from raydata_ext.engine import Engine, Silent, Workers, run_all
from raydata_ext.errors import RaydataError

ROOM = 3_000_000_000


class Occupy:
    """A step that takes memory and holds it for a while."""

    def __init__(self, num_bytes: int) -> None:
        self.num_bytes = num_bytes

    def __call__(self, row):
        held = bytearray(b"x") * self.num_bytes
        time.sleep(2)
        return {"held": len(held), "text": row["text"]}


class Workforce(Silent):
    """Keeps how many workers there were, each time that this changed."""

    def __init__(self) -> None:
        self.sizes = [0]
        self.lost = 0

    def watch(self, status):
        self.lost = status.lost
        if status.workers != self.sizes[-1]:
            self.sizes.append(status.workers)


def main(num_bytes: int, directory: Path) -> None:
    """Run the job and say what became of it."""
    for number in range(5):
        (directory / f"{number}.txt").write_text(f"document {number}\n")
    memory = psutil.virtual_memory()
    os.environ |= {"RAY_memory_usage_threshold": str((memory.total - memory.available + ROOM) / memory.total)}
    ray.init(
        address="local", num_cpus=3, include_dashboard=False, object_store_memory=100 << 20,
        logging_level="ERROR", log_to_driver=False, _temp_dir=str(directory / "ray"),
    )  # fmt: skip
    scan = rdx.scan_dataset(str(directory / "*.txt"), max_shard_bytes=11, cache_dir=directory / "cache")
    lazy, workforce = scan.map(Occupy(num_bytes)), Workforce()
    with Engine("ray", Workers(min=1, max=3)) as engine:
        try:
            results = run_all(lazy.plan, lazy.workspace, engine, workforce)[-1]
        except RaydataError as error:
            say(error=f"{type(error).__name__}: {error}", lost=workforce.lost)
            return
    rows = list(lazy.make_dataset(results, lazy.workspace))
    say(rows=rows, sizes=workforce.sizes, lost=workforce.lost)


def say(**result) -> None:
    """Print the result."""
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
