"""Data sets side by side with Hugging Face `datasets`: rows, batches, order, columns, filters.

Run `python benchmarks/bench_dataset.py` (about two minutes), or with `--small` for a quick look. Data is made in a
temporary directory and removed. Times are the best of several runs of the same work; ratios are theirs divided by ours,
so above 1 means that ours is faster.

The last table is what the rule of `filter` rests on: how long it takes to write the rows that stay, or to keep only
their numbers, and to iterate over the result, by the size of rows.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import datasets
import numpy as np

import raydata_ext as rdx
from raydata_ext.dataset import transforms

if TYPE_CHECKING:
    from collections.abc import Callable

REPEATS = 5
ROWS_AT_RANDOM = 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="fewer rows")
    rows = 50_000 if parser.parse_args().small else 400_000
    datasets.disable_progress_bars()
    os.environ["RAYDATA_EXT_EXECUTOR"] = "inline"
    with TemporaryDirectory(prefix="bench-dataset-") as name:
        directory = Path(name)
        for text_bytes in (40, 1000):
            count = rows if text_bytes < 100 else rows // 8
            ours, theirs = both(directory, count, text_bytes)
            print(f"\n{count} rows, each an int, a float and a text of {text_bytes} bytes")
            print(f"{'':44s} {'ours':>10s} {'theirs':>10s}  ratio")
            bench_reading(ours, theirs)
            bench_changing(ours, theirs)
        print(f"\n{'filter that leaves half of the rows, seconds':44s} {'written':>10s} {'indices':>10s}")
        for text_bytes in (40, 250, 1000, 4000):
            bench_filter(directory, rows // 8, text_bytes)


def both(directory: Path, rows: int, text_bytes: int) -> tuple[rdx.Dataset, datasets.Dataset]:
    """The same files, opened by us and by them."""
    path = directory / f"rows-{rows}-{text_bytes}"
    numbers = np.arange(rows)
    columns = {"id": numbers, "score": numbers / 2, "text": [f"{n}".rjust(text_bytes, "x") for n in range(rows)]}
    cache = directory / "cache"
    rdx.Dataset.from_dict(columns, cache_dir=cache).save_to_disk(path, max_shard_bytes="16MB")
    return rdx.load_from_disk(path, cache_dir=cache), datasets.load_from_disk(str(path))


def bench_reading(ours: rdx.Dataset, theirs: datasets.Dataset) -> None:
    chosen = np.random.default_rng(0).integers(0, len(ours), ROWS_AT_RANDOM).tolist()
    some = min(len(ours), 50_000)
    for where, (mine, other) in {
        "": (ours, theirs),
        ", shuffled": (ours.shuffle(seed=1), theirs.shuffle(seed=1)),
    }.items():
        compare(f"a row as a dict{where}", "us", 1e6 / len(chosen), mine, other, lambda d: [d[i] for i in chosen])
        compare(f"1,000 rows as a dict of lists{where}", "us/row", 1e6 / len(chosen), mine, other, lambda d: d[chosen])
        numpy = [one.with_format("numpy") for one in (mine, other)]
        compare(f"1,000 rows as numpy arrays{where}", "us/row", 1e6 / len(chosen), *numpy, lambda d: d[chosen])
        head = [mine.select(range(some)), other.select(range(some))]
        compare(f"iterate over rows{where}", "us/row", 1e6 / some, *head, exhaust)
        compare(f"iterate in batches of 1,000{where}", "us/row", 1e6 / some, *head, lambda d: exhaust(d.iter(1000)))


def bench_changing(ours: rdx.Dataset, theirs: datasets.Dataset) -> None:
    odd = list(range(1, len(ours), 2))
    seeds = iter(range(100, 10_000))
    work: dict[str, Callable[[Any], object]] = {
        "select every other row": lambda d: d.select(odd),
        "shuffle": lambda d: d.shuffle(seed=next(seeds)),
        "sort by a float, shuffled before": lambda d: d.sort("score", reverse=True, **no_cache(d)),
        "rename, remove and select columns": lambda d: (
            d.rename_column("id", "n").remove_columns("score").select_columns(["text", "n"])
        ),
    }
    for name, function in work.items():
        inputs = [one.shuffle(seed=1) if name.startswith("sort") else one for one in (ours, theirs)]
        compare(name, "ms", 1e3, *inputs, function)


def no_cache(dataset: Any) -> dict[str, bool]:
    """Theirs finds the order of an earlier run; ours computes it each time."""
    return {"load_from_cache_file": False} if isinstance(dataset, datasets.Dataset) else {}


def bench_filter(directory: Path, rows: int, text_bytes: int) -> None:
    ours, _ = both(directory, rows, text_bytes)
    seconds = []
    for threshold in (1 << 60, 0):
        transforms.MIN_ROW_BYTES_FOR_INDICES = threshold
        kept = ours.filter(is_even, batched=True, load_from_cache_file=False)
        filtering = best(lambda: ours.filter(is_even, batched=True, load_from_cache_file=False))
        seconds.append((filtering, best(lambda kept=kept: exhaust(kept))))
    (written, reading_written), (indices, reading_indices) = seconds
    print(f"{f'  {text_bytes + 16} bytes a row':44s} {written:10.3f} {indices:10.3f}")
    print(f"{'    iterate over the result':44s} {reading_written:10.3f} {reading_indices:10.3f}")


def is_even(batch: Any) -> Any:
    return [number % 2 == 0 for number in batch["id"]]


def compare(what: str, unit: str, scale: float, ours: Any, theirs: Any, work: Callable[[Any], object]) -> None:
    mine, other = (best(lambda one=one: work(one)) * scale for one in (ours, theirs))
    print(f"{f'{what}, {unit}':44s} {mine:10.3f} {other:10.3f} {other / mine:6.1f}")


def exhaust(rows: Any) -> None:
    for _ in rows:
        pass


def best(work: Callable[[], object]) -> float:
    seconds = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


if __name__ == "__main__":
    main()
