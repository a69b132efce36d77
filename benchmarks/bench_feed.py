"""Feeding: throughput against reading by hand, the first batch of a huge epoch, planning, and the order alone.

    python benchmarks/bench_feed.py [all | throughput | first | plan | order]

Each part runs in a process of its own; prints one JSON line a measurement.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import numpy as np
import pyarrow as pa
import ray

from raydata_ext.feed import StreamingCoordinator
from raydata_ext.feed.feed_state import Position, load_position, save_position
from raydata_ext.feed.lanes import lane_nodes
from raydata_ext.feed.order_tracker import OrderTracker
from raydata_ext.feed.plan import FeedPlan
from raydata_ext.feed.rank_batches import rank_batches
from raydata_ext.feed.rank_rows import RankRows
from raydata_ext.feed.share import Share
from raydata_ext.formatting import get_formatter
from raydata_ext.streaming import IterableDataset
from raydata_ext.streaming.identity import TableIdentity
from raydata_ext.streaming.nodes.buffer_shuffle import BufferShuffle
from raydata_ext.streaming.nodes.table_source import TableSource
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.seeds import Seed
from raydata_ext.table import InMemoryTable, MemoryMappedTable, ShardWriter, concat_tables

if TYPE_CHECKING:
    from raydata_ext.streaming.nodes.base import Node

PARTS = ("throughput", "first", "plan", "order")
BATCH = 512


def main(part: str) -> None:
    if part == "all":
        for name in PARTS:
            subprocess.run([sys.executable, __file__, name], check=True)
        return
    {"throughput": throughput, "first": first_batch, "plan": plan, "order": order}[part]()


def throughput(shards: int = 16, rows: int = 40_000, rounds: int = 7) -> None:
    """Small rows in batches of 512 from mapped files: the feed beside the same done by hand, in either format.

    By hand, the same rows are gathered and put into the same format. The ways take turns, so that what else the machine
    does falls on all of them; a ratio is the median of its rounds.
    """
    with tempfile.TemporaryDirectory() as directory:
        tables = [_write(Path(directory) / f"{number}.arrow", rows, number) for number in range(shards)]
        stream = IterableDataset.from_tables(tables).shuffle(1, buffer_size=1000)
        share = Share(0, 1, 64, BATCH)
        made = FeedPlan.of(stream, global_batch_size=BATCH).epoch(0)
        whole = concat_tables(tables)
        references = RowReader(RankRows(made, share).open(made.bases)).read(None)
        assert references is not None
        ray.init("local", num_cpus=2, include_dashboard=False, logging_level="ERROR", object_store_memory=128 << 20)

        def by_hand(name: str):
            columns_of = get_formatter(name).batch
            starts = range(0, len(references), BATCH)
            return lambda: _drain(columns_of(whole.fast_gather(references[i : i + BATCH])) for i in starts)

        def feed(name: str):
            batches = StreamingCoordinator.create(stream.with_format(name), global_batch_size=BATCH).feed(0, 1)
            return lambda: _drain(batches)

        ways = {
            "by hand": by_hand("arrow"),
            "batches without feed": lambda: _drain(rank_batches(made, share)),
            "feed": feed("arrow"),
            "by hand, as numpy arrays": by_hand("numpy"),
            "feed, as numpy arrays": feed("numpy"),
        }
        beside = dict.fromkeys(ways, "by hand") | {"feed, as numpy arrays": "by hand, as numpy arrays"}
        for run in ways.values():
            run()
        wall, cpu = {name: [] for name in ways}, {name: [] for name in ways}
        for _ in range(rounds):
            for name, run in ways.items():
                started = time.process_time()
                wall[name].append(_seconds(run))
                cpu[name].append(time.process_time() - started)
        for name, hand in beside.items():
            ratios = {"of_by_hand": _ratio(wall[hand], wall[name]), "of_by_hand_cpu": _ratio(cpu[hand], cpu[name])}
            _print(name, rows_per_second=len(references) / float(np.median(wall[name])), **ratios)
        ray.shutdown()


def _ratio(hand: list[float], mine: list[float]) -> float:
    return float(np.median(np.array(hand) / np.array(mine)))


def first_batch(rows: int = 1_000_000_000, shards: int = 10_000) -> None:
    """The first batch of a huge epoch, cold, and resumed at 50 % from a state without rows."""
    before = _megabytes()
    part = pa.table({"x": np.arange(rows // shards)})
    stream = IterableDataset.from_tables([part] * shards, fingerprint="synthetic").shuffle(1, buffer_size=1000)
    share = Share(0, 1, 64, BATCH)

    def cold() -> None:
        made = FeedPlan.of(stream, global_batch_size=BATCH)
        next(rank_batches(made.epoch(0), share))

    _print("first batch, cold", seconds=_seconds(cold), megabytes=_megabytes(), megabytes_before=before)
    path = Path(tempfile.gettempdir()) / f"feed-state-{os.getpid()}.json"
    child = f"import bench_feed as b; b.write_state({rows}, {shards}, {str(path)!r})"
    subprocess.run([sys.executable, "-c", child], check=True, cwd=Path(__file__).parent)
    text = path.read_text()
    path.unlink()

    def resumed() -> None:
        made = FeedPlan.of(stream, global_batch_size=BATCH)
        position = load_position(made, json.loads(text))
        next(rank_batches(made.epoch(0), share, first_step=position.step, mark=position.mark))

    _print("first batch, resumed at 50 %", seconds=_seconds(resumed), megabytes=_megabytes(), state_kb=len(text) / 1e3)


def write_state(rows: int, shards: int, path: str) -> None:
    """Go through half of an epoch, as a coordinator does while it runs, and write its state."""
    part = pa.table({"x": np.arange(rows // shards)})
    stream = IterableDataset.from_tables([part] * shards, fingerprint="synthetic").shuffle(1, buffer_size=1000)
    tracker = OrderTracker(FeedPlan.of(stream, global_batch_size=BATCH))
    step = rows // BATCH // 2
    mark = tracker.mark(0, step)
    Path(path).write_text(json.dumps(save_position(tracker.order(0), Position(0, step, mark))))


def plan(rows: int = 1_000_000_000_000, shards: int = 1_000_000) -> None:
    """Cut an epoch of 1e12 rows in 1e6 shards into lanes, and compute its first references."""
    table = InMemoryTable(pa.table({"x": [0]}))
    ends = np.arange(shards + 1) * (rows // shards)
    source = TableSource(table, np.stack([ends[:-1], ends[1:]], axis=1), TableIdentity(table, {}, "synthetic"))
    seed = Seed(1)

    def run() -> None:
        node = BufferShuffle(source.shuffle_data_sources(seed), 1000, seed, 10)
        for lane in lane_nodes(node, 0, 64):
            lane.open({id(table): 0}).next()

    _print("plan of 1e12 rows", seconds=_seconds(run), megabytes=_megabytes())


def order(rows: int = 10_000_000, rounds: int = 5) -> None:
    """References of an epoch: of the stream alone, and in lanes for one rank with all of them and for one of eight.

    Beside that a numpy permutation. The ways take turns; a figure is the median of its rounds.
    """
    part = pa.table({"x": np.arange(rows // 200)})
    stream = IterableDataset.from_tables([part] * 200, fingerprint="synthetic").shuffle(1, buffer_size=1000)
    made = FeedPlan.of(stream, global_batch_size=BATCH).epoch(0)

    def read(node: Node) -> None:
        RowReader(node.open(made.bases)).skip(rows)

    generator = np.random.default_rng(1)
    ways = {
        "numpy permutation": (lambda: generator.permutation(rows), rows),
        "stream": (lambda: read(stream.node), rows),
        "rank 0 of 1": (lambda: read(RankRows(made, Share(0, 1, 64, BATCH))), rows),
        "rank 0 of 8": (lambda: read(RankRows(made, Share(0, 8, 64, BATCH))), rows // 8),
    }
    wall, cpu = {name: [] for name in ways}, {name: [] for name in ways}
    for _ in range(rounds):
        for name, (run, count) in ways.items():
            started = time.process_time()
            wall[name].append(count / _seconds(run))
            cpu[name].append(count / (time.process_time() - started))
    for name in ways:
        figures = {"references_per_second": wall[name], "references_per_cpu_second": cpu[name]}
        _print(f"order, {name}", **{what: float(np.median(found)) for what, found in figures.items()})


def _write(path: Path, rows: int, seed: int) -> MemoryMappedTable:
    generator = np.random.default_rng(seed)
    values = pa.array(generator.integers(0, 1000, size=rows * 8, dtype=np.int32))
    lists = pa.ListArray.from_arrays(pa.array(np.arange(0, rows * 8 + 1, 8, dtype=np.int32)), values)
    table = pa.table({"x": np.arange(rows), "ids": lists, "score": generator.random(rows)})
    with ShardWriter(path, table.schema) as writer:
        for batch in table.to_batches(1000):
            writer.write(batch)
    return MemoryMappedTable.from_file(path)


def _drain(batches) -> None:
    for _ in batches:
        pass


def _seconds(run) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _print(name: str, **figures: float) -> None:
    print(json.dumps({"measurement": name, **{key: round(value, 4) for key, value in figures.items()}}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "all")
