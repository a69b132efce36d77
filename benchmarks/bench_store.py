"""How long it takes to look up 10,000 of 100,000 cache entries on local disk, and to make a table of them.

Usage: python benchmarks/bench_store.py [--entries 100000] [--lookups 10000] [--directory DIR]
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import random
import tempfile
import time
from pathlib import Path

import pyarrow as pa

from raydata_ext.store import Receipt, Store, collect_garbage
from raydata_ext.table import concat_tables
from raydata_ext.table.ipc_writer import ShardWriter

SCHEMA = pa.schema([("text", pa.string()), ("input_ids", pa.list_(pa.int32())), ("n", pa.int64())])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--lookups", type=int, default=10_000)
    parser.add_argument("--directory", default=None)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.directory) as directory:
        store = Store.open(directory)
        keys = write_entries(Path(directory), arguments.entries)
        generator = random.Random(0)
        hits = generator.sample(keys, arguments.lookups)
        misses = [random_key(generator) for _ in range(arguments.lookups)]
        found = measure(f"{arguments.lookups} hits among {arguments.entries}", lambda: store.find(hits))
        assert len(found) == arguments.lookups
        assert not measure(f"{arguments.lookups} misses among {arguments.entries}", lambda: store.find(misses))
        sixteen = hits[:16]
        assert len(measure("16 hits", lambda: store.find(sixteen))) == min(16, len(hits))
        tables = measure(f"{len(found)} lazy tables", lambda: [store.table(one) for one in found.values()])
        measure(f"concatenation of {len(tables)} lazy tables", lambda: concat_tables(tables))
        measure(f"dry run of garbage collection, {arguments.entries}", lambda: collect_garbage(store, older_than=0), 1)


def measure(name, action, repeats: int = 3):
    """Print the best of some runs: wall-clock time, and the processor's time, which other work does not lengthen."""
    runs = []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        result = action()
        runs.append((time.perf_counter() - wall, time.process_time() - processor))
    wall, processor = map(min, zip(*runs, strict=True))
    print(f"{name:45s} {wall:8.3f} s   processor {processor:8.3f} s")
    return result


def write_entries(directory: Path, count: int) -> list[str]:
    """Write entries that share the bytes of one file (by hard links), with the receipts that real ones have."""
    generator = random.Random(1)
    source = directory / "source.arrow"
    with ShardWriter(source, SCHEMA) as writer:
        writer.write(pa.RecordBatch.from_pylist([{"text": "a", "input_ids": [1, 2], "n": 1}] * 10, SCHEMA))
        summary = writer.finish()
    keys = [random_key(generator) for _ in range(count)]
    template = Receipt(
        key=keys[0],
        rows=summary.rows,
        num_bytes=summary.num_bytes,
        checksum=summary.checksum,
        schema=summary.schema,
        rows_in=12,
        filtered={"too short": 2},
        inputs=({"path": "corpus/part-00017.jsonl.zst", "range": [0, 268435456], "content": "0" * 32},),
        steps=tuple({"name": f"step {i}", "rows_in": 12, "rows_out": 10, "seconds": 0.25} for i in range(3)),
        worker="host:12345",
        created=time.time(),
    )
    text = template.to_json()
    for prefix in sorted({key[:2] for key in keys}):
        (directory / prefix).mkdir()
    for number, key in enumerate(keys):
        if number % 30_000 == 0:  # a file has at most 65,000 links on some file systems
            linked = dataclasses.replace(template, key=key)
            first = directory / key[:2] / f"{key}.arrow"
            first.write_bytes(source.read_bytes())
            assert linked.num_bytes == first.stat().st_size
        else:
            os.link(first, directory / key[:2] / f"{key}.arrow")
        (directory / key[:2] / f"{key}.json").write_bytes(text.replace(template.key.encode(), key.encode()))
    return keys


def random_key(generator: random.Random) -> str:
    return f"{generator.getrandbits(128):032x}"


if __name__ == "__main__":
    main()
