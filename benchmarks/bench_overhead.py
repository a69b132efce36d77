"""What work costs that is hardly any: 1,000 shards of one row each, and a job of 100 rows, side by side.

Run `python benchmarks/bench_overhead.py` (about two minutes), or with `--small` for 100 shards. The data is made in a
temporary directory (in `TMPDIR`) and removed.

Shards: each of 1,000 files of one JSON line becomes a shard with a file, a receipt and a key of its own. Ray and its
workers are started before the clock is. Hugging Face `map` with two processes cuts the rows of all files into two
shards, so that is what a call of its costs; Ray Data reads the files, a task each, and writes nothing.

Job: a whole process, from the command to its end, over 100 rows in one file: `raydata-ext run` with each executor, and
a script that loads the file and maps it with each of the others. CPU time counts the process, its children and what
Ray started, as far as these have ended by then.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import resource
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")

import datasets
import ray
import ray.data
from timing import Timing, timed

from raydata_ext import scan_dataset
from raydata_ext.engine import Engine, run_all

if TYPE_CHECKING:
    from collections.abc import Sequence

WORKERS = 2
LARGEST_SHARD = 60
"""Bytes, so that no two lines share a shard."""

STEPS = """
def length(row):
    return {"n": len(row["text"])}
"""

JOB = """
name: small
source: {paths: [rows.jsonl]}
steps:
  - map: {function: "steps:length"}
output: {path: out}
run: {cache_dir: cache, executor: inline, workers: 2}
"""

HUGGING_FACE = """
import datasets
from steps import length

if __name__ == "__main__":
    data = datasets.load_dataset("json", data_files="rows.jsonl", split="train", cache_dir="cache")
    data.map(length, num_proc=2).save_to_disk("out")
"""

RAY_DATA = """
import ray
from steps import length

ray.init(address="local", num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
ray.data.read_json("rows.jsonl").map(lambda row: {**row, **length(row)}).write_parquet("out")
"""


def length(row: Any) -> dict[str, int]:
    return {"n": len(row["text"])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shards", type=int, default=1000, help="files of one row")
    parser.add_argument("--small", action="store_true", help="100 shards")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each job; the fastest counts")
    arguments = parser.parse_args()
    with TemporaryDirectory(prefix="bench-overhead-") as name:
        directory = Path(name)
        bench_shards(directory, 100 if arguments.small else arguments.shards)
        bench_job(directory, arguments.repeats)


def bench_shards(directory: Path, count: int) -> None:
    paths = [directory / f"{number:05d}.jsonl" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_text(json.dumps({"id": number, "text": f"words of document {number}"}) + "\n", encoding="utf-8")
    print(f"{count} shards of one row{'':25s} seconds  ms each  CPU sec. of this process")
    inline = scan(paths, directory / "inline")
    show("ours inline", timed(lambda: inline.collect(executor="inline")), count)
    started = time.perf_counter()
    ray.init(address="local", num_cpus=WORKERS, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    with Engine("ray", workers=WORKERS) as pool:
        warm_up = scan(paths[: 4 * WORKERS], directory / "warm-up")
        run_all(warm_up.plan, warm_up.workspace, pool)
        print(f"(start of Ray and {WORKERS} workers {time.perf_counter() - started:.1f} s)")
        plan = scan(paths, directory / "ray")
        show(f"ours on Ray, {WORKERS} workers", timed(lambda: run_all(plan.plan, plan.workspace, pool)), count)
        show("ours on Ray, cached", timed(lambda: run_all(plan.plan, plan.workspace, pool)), count)
    names = [str(path) for path in paths]
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    show("Ray Data map", timed(lambda: ray.data.read_json(names).map(with_length).materialize()), count)
    ray.shutdown()
    datasets.disable_progress_bars()
    data = datasets.load_dataset("json", data_files=names, split="train", cache_dir=str(directory / "huggingface"))
    show(f"Hugging Face map, num_proc={WORKERS}", timed(lambda: data.map(length, num_proc=WORKERS)), count)
    show("Hugging Face map, one process", timed(lambda: data.map(with_length)), count)


def bench_job(directory: Path, repeats: int) -> None:
    print(f"\na job of 100 rows, as a process{'':23s} seconds  CPU sec.")
    command = [sys.executable, "-c", "from raydata_ext.cli import main; main()", "run", "job.yaml"]
    for name, arguments in (
        ("raydata-ext run, inline", command),
        ("raydata-ext run, on Ray", [*command, "--set", "run.executor=ray"]),
        ("Hugging Face map, num_proc=2", [sys.executable, "hugging_face.py"]),
        ("Ray Data map", [sys.executable, "ray_data.py"]),
    ):
        runs = [process(directory, arguments) for _ in range(repeats)]
        seconds, cpu = min(run.seconds for run in runs), min(run.cpu for run in runs)
        print(f"{name:53s} {seconds:8.2f} {cpu:9.2f}", flush=True)


def process(directory: Path, command: Sequence[str]) -> Timing:
    """Run a command in a fresh working directory with the rows and the steps."""
    with TemporaryDirectory(dir=directory) as name:
        work = Path(name)
        rows = [json.dumps({"id": number, "text": f"words of document {number}"}) + "\n" for number in range(100)]
        (work / "rows.jsonl").write_text("".join(rows), encoding="utf-8")
        texts = {"steps.py": STEPS, "job.yaml": JOB, "hugging_face.py": HUGGING_FACE, "ray_data.py": RAY_DATA}
        for file, text in texts.items():
            (work / file).write_text(textwrap.dedent(text), encoding="utf-8")
        before, started = children_cpu(), time.perf_counter()
        subprocess.run(command, cwd=work, check=True, capture_output=True)
        return Timing(time.perf_counter() - started, children_cpu() - before)


def children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def with_length(row: Any) -> dict[str, Any]:
    return {**row, **length(row)}


def scan(paths: Sequence[Path], cache: Path) -> Any:
    return scan_dataset([str(path) for path in paths], cache_dir=cache, max_shard_bytes=LARGEST_SHARD).map(length)


def show(name: str, timing: Timing, count: int) -> None:
    print(f"{name:47s} {timing.seconds:8.2f} {timing.seconds / count * 1000:8.2f} {timing.cpu:9.2f}", flush=True)


if __name__ == "__main__":
    main()
