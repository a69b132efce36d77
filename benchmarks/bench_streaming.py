"""Streams side by side with Hugging Face `datasets`: rows, batches, shuffling, mixing, resuming.

Run `python benchmarks/bench_streaming.py` (about two minutes), or with `--small` for a quick look. Data is made in a
temporary directory and removed. Rates are the best of several runs (of batches the median of plain and shuffled runs in
turn), of ours over all rows and of theirs over the first ones, after their buffer is full; ratios are ours divided by
theirs, so above 1 means that ours is faster. Machines differ, ratios hardly do.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections import deque
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import datasets as hf
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from raydata_ext.dataset import load_dataset
from raydata_ext.streaming import IterableDataset, interleave_datasets
from raydata_ext.table import InMemoryTable, MemoryMappedTable, ShardWriter

SCHEMA = pa.schema([("path", pa.string()), ("text", pa.string()), ("n", pa.int64())])
BUFFER = 10_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="less data, fewer repetitions")
    small = parser.parse_args().small
    repetitions = 2 if small else 4
    hf.disable_progress_bars()
    with TemporaryDirectory(prefix="bench-streaming-") as name:
        paths = [write(Path(name) / f"{i}.arrow", 2000 if small else 19_000, i) for i in range(16)]
        make = partial(ours, paths)
        their_rows = 15_000 if small else 30_000
        show("rows as dicts", best(make(), repetitions), best(theirs(paths), 1, their_rows))
        shuffled = make().shuffle(1, buffer_size=BUFFER)
        their_shuffled = theirs(paths).shuffle(1, buffer_size=BUFFER)
        show("shuffled rows as dicts", best(shuffled, repetitions), best(their_shuffled, 1, their_rows))
        mixed = interleave_datasets([ours(paths[:8]), ours(paths[8:])], [0.7, 0.3], seed=1)
        their_mixed = hf.interleave_datasets([theirs(paths[:8]), theirs(paths[8:])], [0.7, 0.3], seed=1)
        show("rows of a mixture", best(mixed, repetitions), best(their_mixed, 1, their_rows))
        bench_batches(make(), shuffled, theirs(paths), their_shuffled, repetitions, their_rows)
        show("references alone, shuffled, CPU", max(references(40, 200_000 if small else 500_000) for _ in range(5)))
        bench_resume(make, paths)
        for suffix, write_rows in (("jsonl", write_lines), ("parquet", write_parquet)):
            for path in paths:
                write_rows(path)
            bench_files(Path(name), suffix)
    return 0


def bench_batches(plain, shuffled, their_plain, their_shuffled, repetitions: int, their_rows: int) -> None:
    """Arrow batches of 1,000 rows; read by a consumer that looks at each byte, as any consumer does in the end."""
    plain, shuffled = plain.with_format("arrow"), shuffled.with_format("arrow")
    their_plain, their_shuffled = their_plain.with_format("arrow"), their_shuffled.with_format("arrow")
    for name, touch in (("", None), (", each byte read", read_bytes)):
        rate = partial(batch_rate, touch=touch)
        pairs = [(rate(plain), rate(shuffled)) for _ in range(repetitions + 3)]  # in turn: others use the machine, too
        own, own_shuffled = np.median(pairs, axis=0)
        show(f"arrow batches{name}", own[0], rate(their_plain, rows=their_rows)[0])
        show(f"shuffled arrow batches{name}", own_shuffled[0], rate(their_shuffled, rows=their_rows)[0])
        by_wall, by_cpu = own_shuffled / own
        print(f"{'  of unshuffled':40} {by_wall:10.0%}, {by_cpu:.0%} by CPU time", flush=True)


def bench_resume(make, paths: list[Path]) -> None:
    """From a saved state in the middle to the first row, in a new object."""
    whole = [row["path"] for row in make().shuffle(1, buffer_size=BUFFER)]
    half = len(whole) // 2
    stream = make().shuffle(1, buffer_size=BUFFER)
    head = [row["path"] for row in itertools.islice(stream, half)]
    state = json.dumps(stream.state_dict())
    started = time.perf_counter()
    later = make().shuffle(1, buffer_size=BUFFER)
    later.load_state_dict(json.loads(state))
    rows = iter(later)
    rest = [next(rows)["path"]]
    seconds = time.perf_counter() - started
    rest += [row["path"] for row in rows]
    assert head + rest == whole
    lost, repeated = len(set(whole) - set(head + rest)), len(head + rest) - len(set(head + rest))
    report_resume("resume at 50 %: time to first row", seconds, lost, repeated)
    print(f"{'  size of the state':40} {len(state) / 1e3:10.0f} kB")
    stream = theirs(paths).shuffle(1, buffer_size=BUFFER)
    head = [row["path"] for row in itertools.islice(stream, half)]
    saved = stream.state_dict()
    started = time.perf_counter()
    later = theirs(paths).shuffle(1, buffer_size=BUFFER)
    later.load_state_dict(saved)
    rows = iter(later)
    rest = [next(rows)["path"]]
    seconds = time.perf_counter() - started
    rest += [row["path"] for row in itertools.islice(rows, len(whole))]
    lost, repeated = len(set(whole) - set(head + rest)), len(head + rest) - len(set(head + rest))
    report_resume("  theirs", seconds, lost, repeated)


def bench_files(directory: Path, suffix: str) -> None:
    """The same rows, streamed out of files of another format."""
    make = partial(load_dataset, str(directory / f"*.{suffix}"), streaming=True, max_shard_bytes="16MB")
    show(f"rows of {suffix} as dicts", best(make(), 2))
    shuffled = make().shuffle(1, buffer_size=BUFFER)
    show(f"shuffled rows of {suffix} as dicts", best(shuffled, 2))
    half = sum(1 for _ in make()) // 2
    rows = iter(shuffled)
    for _ in range(half):
        next(rows)
    state = json.dumps(shuffled.state_dict())
    started, started_cpu = time.perf_counter(), time.process_time()
    later = make().shuffle(1, buffer_size=BUFFER)
    later.load_state_dict(json.loads(state))
    again = iter(later)
    first = next(again)
    seconds, seconds_cpu = time.perf_counter() - started, time.process_time() - started_cpu
    assert first == next(rows)
    what = "  resume at 50 %: time to first row"
    print(f"{what:40} {seconds * 1e3:10.1f} ms, {seconds_cpu * 1e3:.1f} ms of CPU time", flush=True)
    assert list(again) == list(rows)
    print(f"{'  size of the state':40} {len(state) / 1e3:10.0f} kB")


def report_resume(what: str, seconds: float, lost: int, repeated: int) -> None:
    print(f"{what:40} {seconds * 1e3:10.1f} ms, {lost} rows lost, {repeated} repeated", flush=True)


def ours(paths: list[Path]) -> IterableDataset:
    return IterableDataset.from_tables([MemoryMappedTable.from_file(path) for path in paths])


def theirs(paths: list[Path]):
    whole = hf.concatenate_datasets([hf.Dataset.from_file(str(path)) for path in paths])
    return whole.to_iterable_dataset(num_shards=len(paths))


def best(stream, repetitions: int, rows: int | None = None) -> float:
    """Rows a second, the first row not counted: what comes before it is another question."""
    rates = []
    for _ in range(repetitions):
        found = iter(stream)
        next(found)
        started = time.perf_counter()
        count = sum(1 for _ in itertools.islice(found, rows))
        rates.append(count / (time.perf_counter() - started))
    return max(rates)


def batch_rate(stream, *, touch, rows: int | None = None) -> tuple[float, float]:
    """Rows a second, and a second of CPU time of all threads, in batches of 1,000, the first batch not counted."""
    batches = stream.iter(1000)
    next(batches)
    count, started, started_cpu = 0, time.perf_counter(), time.process_time()
    for batch in batches:
        if touch is not None:
            touch(batch)
        count += batch.num_rows
        if rows is not None and count >= rows:
            break
    return count / (time.perf_counter() - started), count / (time.process_time() - started_cpu)


def read_bytes(batch: pa.Table) -> None:
    for column in batch.columns:
        if pa.types.is_string(column.type):
            pc.sum(pc.utf8_length(column))
        else:
            pc.sum(column)


def references(shards: int, rows: int) -> float:
    """Rows whose order is computed and that are never read, by second of CPU time: it is work of one thread."""
    tables = [InMemoryTable(pa.table({"x": pa.nulls(rows)})) for _ in range(shards)]
    node = IterableDataset.from_tables(tables).shuffle(1, buffer_size=BUFFER).node
    cursor = node.open({id(table): 0 for table in node.tables})
    started = time.process_time()
    deque(iter(lambda: cursor.next() is None, True), maxlen=0)
    return shards * rows / (time.process_time() - started)


def write(path: Path, rows: int, seed: int) -> Path:
    """A file of about a kilobyte a row, in batches of 1,000."""
    generator = np.random.default_rng(seed)
    text = "the quick brown fox jumps over the lazy dog, " * 50
    starts, lengths = generator.integers(0, 400, rows), generator.integers(100, 1800, rows)
    columns = {
        "path": [f"corpus/part{seed}/{row}.txt" for row in range(rows)],
        "text": [text[a : a + b] for a, b in zip(starts.tolist(), lengths.tolist(), strict=True)],
        "n": lengths,
    }
    with ShardWriter(path, SCHEMA, batch_rows=1000) as writer:
        for batch in pa.table(columns, schema=SCHEMA).to_batches(1000):
            writer.write(batch)
    return path


def write_lines(path: Path) -> None:
    """The rows of an Arrow file as JSON lines beside it."""
    rows = MemoryMappedTable.from_file(path).to_pylist()
    path.with_suffix(".jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_parquet(path: Path) -> None:
    """The rows of an Arrow file as a Parquet file beside it."""
    pq.write_table(MemoryMappedTable.from_file(path).table, path.with_suffix(".parquet"), row_group_size=5000)


def show(what: str, own: float, other: float | None = None) -> None:
    compared = "" if other is None else f"{other / 1e3:10.0f} k/s theirs {own / other:8.1f}x"
    print(f"{what:40} {own / 1e3:10.0f} k rows/s {compared}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
