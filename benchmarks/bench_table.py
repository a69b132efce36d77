"""Tables side by side with Hugging Face `datasets` and plain pyarrow: opening, gathering, rows, slices, sizes.

Run `python benchmarks/bench_table.py` (about a minute), or with `--small` for a quick look. Data is made in a temporary
directory and removed. Times are the median of several runs of the same work; ratios are theirs divided by ours, so
above 1 means that ours is faster. Machines differ, ratios hardly do.
"""

from __future__ import annotations

import argparse
import pickle
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from datasets import table as hf

from raydata_ext.table import MemoryMappedTable, ShardWriter, concat_tables

SCHEMA = pa.schema([("path", pa.string()), ("text", pa.string()), ("n", pa.int64())])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="less data, fewer repetitions")
    small = parser.parse_args().small
    rows = []
    with TemporaryDirectory(prefix="bench-table-") as name:
        directory = Path(name)
        rows += bench_open(directory, files=100 if small else 1000, batches=100)
        rows += bench_rows(directory, files=4 if small else 16, batches=20, repetitions=30 if small else 100)
        rows += bench_slices(directory, slices=1000 if small else 10_000)
    show(rows)
    return 0


def bench_open(directory: Path, *, files: int, batches: int) -> list[tuple]:
    """Open files of many small batches and join them."""
    first = write(directory / "open-0.arrow", batches=batches, batch_rows=10, length=100, seed=0)
    paths = [first] + [Path(directory / f"open-{i}.arrow") for i in range(1, files)]
    for path in paths[1:]:
        path.hardlink_to(first)
    num_rows, num_bytes = batches * 10, first.stat().st_size

    def ours_known():
        tables = [
            MemoryMappedTable.from_file(path, schema=SCHEMA, num_rows=num_rows, num_bytes=num_bytes) for path in paths
        ]
        return concat_tables(tables)

    def ours():
        return concat_tables([MemoryMappedTable.from_file(path) for path in paths])

    def theirs():
        return hf.concat_tables([hf.MemoryMappedTable.from_file(str(path)) for path in paths])

    def plain():
        return pa.concat_tables([pa.ipc.open_stream(pa.memory_map(str(path))).read_all() for path in paths])

    allocated = pa.total_allocated_bytes()
    joined = ours()
    print(f"{files} mapped files joined: {pa.total_allocated_bytes() - allocated} bytes allocated", file=sys.stderr)
    del joined
    what = f"open and join {files} files of {batches} batches"
    return [
        (what, "ms", 1e3, timed(ours, 3), timed(theirs, 3), timed(plain, 3)),
        ("  the same, schema and rows known", "ms", 1e3, timed(ours_known, 3), timed(theirs, 3), timed(plain, 3)),
    ]


def bench_rows(directory: Path, *, files: int, batches: int, repetitions: int) -> list[tuple]:
    """Read random rows of about 1 kB."""
    paths = [
        write(directory / f"rows-{i}.arrow", batches=batches, batch_rows=1000, length=1000, seed=i)
        for i in range(files)
    ]
    ours = concat_tables([MemoryMappedTable.from_file(path) for path in paths])
    theirs = hf.concat_tables([hf.MemoryMappedTable.from_file(str(path)) for path in paths])
    plain = pa.concat_tables([pa.ipc.open_stream(pa.memory_map(str(path))).read_all() for path in paths])
    rng = np.random.default_rng(0)
    draws = [rng.integers(0, plain.num_rows, 1000) for _ in range(repetitions)]
    start = time.perf_counter()
    ours.fast_gather(draws[0])
    print(f"first gather, addresses not known yet: {1e3 * (time.perf_counter() - start):.1f} ms", file=sys.stderr)
    one = draws[0].tolist()

    def sizes(table):
        return len(table), table.nbytes, len(table.slice(len(table) // 3, len(table) // 2))

    def in_turn(gather):
        turns = iter(draws * 2)
        return lambda: gather(next(turns))

    few, many = max(repetitions // 6, 3), 200
    gather_ours = timed(in_turn(ours.fast_gather), repetitions)
    gather_joined = timed(in_turn(lambda rows: theirs.fast_gather(rows).combine_chunks()), repetitions)
    gather_theirs = timed(in_turn(theirs.fast_gather), repetitions)
    gather_plain = timed(in_turn(lambda rows: plain.take(pa.array(rows))), few)
    row_ours = timed(lambda: [ours.row(i) for i in one], few)
    row_theirs = timed(lambda: [first_row(theirs.fast_slice(i, 1)) for i in one], few)
    row_plain = 10 * timed(lambda: [first_row(plain.slice(i, 1)) for i in one[:100]], few)
    sizes_of = [timed(lambda table=table: sizes(table), many) for table in (ours, theirs, plain)]
    slices_of = [timed(lambda table=table: table.slice(3000, 900), many) for table in (ours, theirs, plain)]
    return [
        ("gather 1,000 random rows, contiguous", "us/row", 1e3, gather_ours, gather_joined, gather_plain),
        ("  theirs left in 1,000 chunks", "us/row", 1e3, gather_ours, gather_theirs, None),
        ("random row to dict", "us", 1e3, row_ours, row_theirs, row_plain),
        ("len, nbytes and a slice", "us", 1e6, *sizes_of),
        ("slice in the middle", "us", 1e6, *slices_of),
    ]


def bench_slices(directory: Path, *, slices: int) -> list[tuple]:
    """Slice a mapped table again and again, and send it to another process."""
    path = write(directory / "slices.arrow", batches=20, batch_rows=1000, length=20, seed=0)
    ours, theirs = MemoryMappedTable.from_file(path), hf.MemoryMappedTable.from_file(str(path))
    few = slices // 10  # theirs takes time that grows with the square of the number of slices

    def chain(table, count):
        for _ in range(count):
            table = table.slice(1)
        return table

    plain = ours.table
    sliced, theirs_sliced = chain(ours, slices), chain(theirs, few)
    pickled, theirs_pickled = pickle.dumps(sliced), pickle.dumps(theirs_sliced)
    print(
        f"pickled after {slices} slices: {len(pickled)} bytes; theirs after {few}: {len(theirs_pickled)}",
        file=sys.stderr,
    )
    return [
        (f"{slices} slices, one after another", "ms", 1e3, timed(lambda: chain(ours, slices), 3), None,
         timed(lambda: chain(plain, slices), 1)),
        (f"{few} slices, one after another", "ms", 1e3, timed(lambda: chain(ours, few), 3),
         timed(lambda: chain(theirs, few), 1), timed(lambda: chain(plain, few), 3)),
        (f"  open again ({slices}, theirs {few})", "ms", 1e3, timed(lambda: pickle.loads(pickled).row(0), 5),
         timed(lambda: pickle.loads(theirs_pickled), 5), None),
    ]  # fmt: skip


def write(path: Path, *, batches: int, batch_rows: int, length: int, seed: int) -> Path:
    """Write a file of rows whose text has about `length` characters."""
    rng = np.random.default_rng(seed)
    letters = bytes(rng.integers(97, 123, 1 << 20, dtype=np.uint8)).decode()
    with ShardWriter(path, SCHEMA, batch_rows=batch_rows) as writer:
        for batch in range(batches):
            starts = rng.integers(0, len(letters) - 2 * length, batch_rows).tolist()
            lengths = rng.integers(length // 2, length * 3 // 2, batch_rows).tolist()
            columns = [
                [f"corpus/part-{seed:05d}/document-{batch * batch_rows + i}.txt" for i in range(batch_rows)],
                [letters[start : start + size] for start, size in zip(starts, lengths, strict=True)],
                lengths,
            ]
            writer.write(pa.record_batch(columns, schema=SCHEMA))
    return path


def first_row(table: pa.Table) -> dict:
    return {name: values[0] for name, values in table.to_pydict().items()}


def timed(work, repetitions: int) -> float:
    """Return the median time of some work, in seconds."""
    seconds = []
    for _ in range(repetitions):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return median(seconds)


def show(rows: list[tuple]) -> None:
    print(f"{'':46}{'':8}{'ours':>10}{'HF':>10}{'pyarrow':>10}{'HF/ours':>10}{'pa/ours':>10}")
    for what, unit, scale, ours, theirs, plain in rows:
        others = [f"{other * scale:10.2f}" if other else f"{'-':>10}" for other in (theirs, plain)]
        ratios = [f"{other / ours:10.1f}" if other else f"{'-':>10}" for other in (theirs, plain)]
        print(f"{what:46}{unit:8}{ours * scale:10.2f}{''.join(others)}{''.join(ratios)}")


if __name__ == "__main__":
    sys.exit(main())
