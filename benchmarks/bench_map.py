"""A cheap map over text, side by side: a plain pyarrow loop, ours inline and on Ray, Hugging Face, and Ray Data.

Run `python benchmarks/bench_map.py` (about three minutes), or with `--small` for a quick look. The data, Parquet files
of words from the standard library's source files, is made in a temporary directory (in `TMPDIR`) and removed.

Batches: `{"n": [len(t) for t in b["text"]], "low": [t.lower() for t in b["text"]]}` over all rows, once from the
Parquet files and once from Arrow files made of them, since that is where Hugging Face starts. Everyone ends with the
rows in Arrow files, except Ray Data, whose rows come from and stay in its object store. Starting Ray and its workers is
shown apart. The ratio per core is seconds times cores, over the seconds of the plain loop; that of CPU time says the
same on a machine that others use too. Two cores at once are each slower than one alone; how much, the plain loop in two
processes says.

Rows: `{"n": len(row["text"])}` and a filter by it, for every row alone, against a loop over `to_pylist`.
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import os
import random
import sysconfig
import time
from concurrent.futures import ProcessPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import ray
import ray.data
from timing import Timing, timed

from raydata_ext import scan_dataset
from raydata_ext.engine import Engine, run_all
from raydata_ext.plan import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

FILES = 16
BATCH_ROWS = 1000
WORKERS = 2
RUNS_ON_ALL_CORES = 5


def batch_function(batch: Any) -> dict[str, list[Any]]:
    return {"n": [len(t) for t in batch["text"]], "low": [t.lower() for t in batch["text"]]}


def row_function(row: Any) -> dict[str, int]:
    return {"n": len(row["text"])}


def row_predicate(row: Any) -> bool:
    return len(row["text"]) > 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=309_000, help="rows of about 1 kB")
    parser.add_argument("--small", action="store_true", help="30,000 rows")
    parser.add_argument("--repeats", type=int, default=7, help="runs of those that start nothing; the median counts")
    parser.add_argument("--only-inline", action="store_true", help="the plain loop and ours inline")
    arguments = parser.parse_args()
    rows = 30_000 if arguments.small else arguments.rows
    pa.set_cpu_count(1)  # one core is one core
    pa.set_io_thread_count(1)
    with TemporaryDirectory(prefix="bench-map-") as name:
        directory = Path(name)
        paths = write_corpus(directory / "corpus", rows)
        size = sum(path.stat().st_size for path in paths)
        print(f"{rows} rows in {len(paths)} Parquet files of {size / 1e6:.0f} MB in all")
        pool = None if arguments.only_inline else started_pool(paths, directory / "warm-up")
        bench_from_parquet(directory, paths, arguments.repeats, pool)
        bench_from_arrow(directory, paths, arguments.repeats, pool)
        bench_rows(directory, paths[:4], arguments.repeats, rows * 4 // FILES)


def bench_from_parquet(directory: Path, paths: Sequence[Path], repeats: int, pool: Engine | None) -> None:
    print(f"{'batches, from Parquet':34s}  seconds  x/core CPU sec. x/core")
    plain, inline = in_turn(
        repeats,
        directory,
        lambda out: plain_batches(paths, parquet_batches, out),
        lambda out: mapped(scan(paths, out)).collect(executor="inline"),
    )
    show("plain pyarrow loop, one core", plain, plain, 1)
    show("ours inline", inline, plain, 1)
    if pool is not None:
        shared, on_ray = on_all_cores(paths, parquet_batches, lambda out: mapped(scan(paths, out)), pool, directory)
        show(f"plain loop, {WORKERS} processes", shared, plain, WORKERS)
        show(f"ours on Ray, {WORKERS} workers", on_ray, plain, WORKERS)
        plan = mapped(scan(paths, directory / "ray"))
        run_all(plan.plan, plan.workspace, pool)
        show("ours on Ray, cached", timed(lambda: run_all(plan.plan, plan.workspace, pool)), plain, WORKERS)


def bench_from_arrow(directory: Path, paths: Sequence[Path], repeats: int, pool: Engine | None) -> None:
    print("\nbatches, from Arrow")
    loaded = scan(paths, directory / "arrow").collect(executor="inline")
    files = [Path(file["filename"]) for file in loaded.cache_files]
    data = hugging_face(paths, directory / "huggingface")
    plain, inline = in_turn(
        repeats,
        directory,
        lambda out: plain_batches(files, arrow_batches, out),
        lambda out: mapped(moved(loaded, out)).collect(executor="inline"),
    )
    theirs, *_ = in_turn(
        repeats,
        directory,
        lambda out: data.map(batch_function, batched=True, cache_file_name=str(out / "data.arrow")),
    )
    show("plain pyarrow loop, one core", plain, plain, 1)
    show("ours inline", inline, plain, 1)
    show("Hugging Face map", theirs, plain, 1)
    if pool is not None:
        shared, on_ray = on_all_cores(files, arrow_batches, lambda out: mapped(moved(loaded, out)), pool, directory)
        show(f"plain loop, {WORKERS} processes", shared, plain, WORKERS)
        show(f"ours on Ray, {WORKERS} workers", on_ray, plain, WORKERS)
        pool.close()  # its workers hold the cores
        for name in (f"Hugging Face map, num_proc={WORKERS}", "Hugging Face map, cached"):
            seconds = timed(lambda: data.map(batch_function, batched=True, num_proc=WORKERS))
            show(name, seconds, plain, WORKERS)
        show("Ray Data map_batches", ray_data(paths), plain, WORKERS, "no files")


def bench_rows(directory: Path, paths: Sequence[Path], repeats: int, rows: int) -> None:
    print(f"\nrow by row, {rows} rows, microseconds of CPU a row (reading and writing included)")
    for name, plain, ours in (
        ("map", plain_row_map, lambda lazy: lazy.map(row_function)),
        ("filter", plain_row_filter, lambda lazy: lazy.filter(row_predicate)),
    ):
        theirs, mine = in_turn(
            repeats,
            directory,
            lambda out, plain=plain: plain(paths, out),
            lambda out, ours=ours: ours(scan(paths, out)).collect(executor="inline"),
        )
        print(f"{name:12s} plain loop {theirs.cpu / rows * 1e6:6.2f}   ours {mine.cpu / rows * 1e6:6.2f}")


def plain_batches(paths: Sequence[Path], read: Callable[[Path], Iterator[Any]], output: Path) -> None:
    """What a careful engineer writes by hand for one core."""
    for path in paths:
        writer = None
        for batch in read(path):
            result = batch_function({"text": batch.column("text").to_pylist()})
            for name, values in result.items():
                batch = batch.append_column(name, pa.array(values))  # noqa: PLW2901 - the batch grows
            writer = writer or pa.ipc.new_stream(output / f"{path.stem}.arrow", batch.schema)
            writer.write_batch(batch)
        writer.close()


def parquet_batches(path: Path) -> Iterator[Any]:
    yield from pq.ParquetFile(path, memory_map=True).iter_batches(BATCH_ROWS, use_threads=False)


def on_all_cores(
    paths: Sequence[Path],
    read: Callable[[Path], Iterator[Any]],
    plan_to: Callable[[Path], Any],
    pool: Engine,
    directory: Path,
) -> list[Timing]:
    """The plain loop in as many processes as there are workers, each with its part of the files; and ours on Ray."""

    def ours(output: Path) -> None:
        plan = plan_to(output)
        run_all(plan.plan, plan.workspace, pool)

    with ProcessPoolExecutor(WORKERS, multiprocessing.get_context("forkserver")) as processes:
        warm_up = [processes.submit(plain_batches, paths[:1], read, directory) for _ in range(WORKERS)]
        wait(warm_up)

        def plain(output: Path) -> None:
            parts = [processes.submit(plain_batches, paths[i::WORKERS], read, output) for i in range(WORKERS)]
            for part in parts:
                part.result()

        return in_turn(RUNS_ON_ALL_CORES, directory, plain, ours)


def arrow_batches(path: Path) -> Iterator[Any]:
    yield from pa.ipc.open_stream(pa.memory_map(str(path)))


def plain_row_map(paths: Sequence[Path], output: Path) -> None:
    for path in paths:
        writer = None
        for batch in parquet_batches(path):
            changes = [row_function(row) for row in batch.to_pylist()]
            result = batch.append_column("n", pa.array([change["n"] for change in changes]))
            writer = writer or pa.ipc.new_stream(output / f"{path.stem}.arrow", result.schema)
            writer.write_batch(result)
        writer.close()


def plain_row_filter(paths: Sequence[Path], output: Path) -> None:
    for path in paths:
        writer = None
        for batch in parquet_batches(path):
            result = batch.filter(pa.array([row_predicate(row) for row in batch.to_pylist()]))
            writer = writer or pa.ipc.new_stream(output / f"{path.stem}.arrow", result.schema)
            writer.write_batch(result)
        writer.close()


def mapped(lazy: Any) -> Any:
    return lazy.map(batch_function, batched=True)


def moved(data: Any, cache: Path) -> Any:
    """The rows of a data set as a plan whose results go to a cache of its own."""
    return replace(data.lazy(), workspace=Workspace(cache))


def started_pool(paths: Sequence[Path], cache: Path) -> Engine:
    """A pool whose workers have started and have looked at the files."""
    started = time.perf_counter()
    ray.init(
        address="local",
        num_cpus=WORKERS,
        include_dashboard=False,
        object_store_memory=2 << 30,
        logging_level="ERROR",
        log_to_driver=False,
    )
    pool = Engine("ray", workers=WORKERS)
    plan = scan(paths, cache).select_columns("path").map(warm, batched=True)
    run_all(plan.plan, plan.workspace, pool)
    print(f"start of Ray and {WORKERS} workers {time.perf_counter() - started:.1f} s\n")
    return pool


def warm(_: Any) -> None:
    """Changes nothing."""


def ray_data(paths: Sequence[Path]) -> Timing:
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    data = ray.data.from_arrow([pq.read_table(path) for path in paths])
    return timed(lambda: data.map_batches(add_to_batch, batch_size=BATCH_ROWS).materialize())


def add_to_batch(batch: dict[str, Any]) -> dict[str, Any]:
    return {**batch, **batch_function(batch)}


def hugging_face(paths: Sequence[Path], cache: Path) -> Any:
    datasets.disable_progress_bars()
    names = [str(path) for path in paths]
    return datasets.load_dataset("parquet", data_files=names, split="train", cache_dir=str(cache))


def scan(paths: Sequence[Path], cache: Path) -> Any:
    """A plan over the files, each of them a shard."""
    largest = max(path.stat().st_size for path in paths)
    return scan_dataset([str(path) for path in paths], cache_dir=cache, max_shard_bytes=largest)


def write_corpus(directory: Path, rows: int) -> list[Path]:
    """Parquet files of (path, text), the texts of about 1 kB, in words of the standard library's source files."""
    directory.mkdir()
    sources = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    words = [word for source in sources for word in source.read_text("utf-8", "replace").split()]
    generator = random.Random(0)
    paths = []
    for number in range(FILES):
        count = rows // FILES + (number < rows % FILES)
        texts = []
        for _ in range(count):
            start = generator.randrange(len(words) - 300)
            texts.append(" ".join(words[start : start + generator.randrange(60, 260)]))
        table = pa.table({"path": [f"{number:02d}/{row:06d}" for row in range(count)], "text": texts})
        paths.append(directory / f"part-{number:02d}.parquet")
        pq.write_table(table, paths[-1])
    return paths


def in_turn(repeats: int, directory: Path, *actions: Callable[[Path], Any]) -> list[Timing]:
    """The median of several runs of each in this process, each run with an empty directory to write to.

    They take turns, so that what else the machine does meets all of them alike.
    """
    runs: list[list[Timing]] = [[] for _ in actions]
    for _ in range(repeats):
        for action, timings in zip(actions, runs, strict=True):
            with TemporaryDirectory(dir=directory) as output:
                timings.append(timed(lambda action=action, output=output: action(Path(output))))
    return [
        Timing(median(timing.seconds for timing in timings), median(timing.cpu for timing in timings))
        for timings in runs
    ]


def show(name: str, timing: Timing, plain: Timing, cores: int, note: str = "") -> None:
    """Print seconds and ratios; CPU time is told where all of it was spent in this process."""
    ratio = f"{timing.seconds * cores / plain.seconds:7.2f}"
    cpu = f"{timing.cpu:8.3f} {timing.cpu / plain.cpu:7.2f}" if cores == 1 else " " * 16
    print(f"{name:34s} {timing.seconds:8.3f} {ratio} {cpu}   {note}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
