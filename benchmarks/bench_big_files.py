"""One big compressed file: a plain pyarrow loop, ours as one shard, and ours in parts with one and two workers.

Run `python benchmarks/bench_big_files.py` (about two minutes), or with `--small` for a quick look. The data, JSON lines
of words from the standard library's source files, is made in a temporary directory (in `TMPDIR`) and removed.

The step counts the words of each text, which takes about as long as parsing; everyone ends with the rows in Arrow
files. The workers of a pool are started before the clock is. "In parts" means that one worker decompresses and writes
the lines of each part, which the workers then read. The ratios are to the plain loop, by the clock and, where all work
is done in this process, in CPU time, which says the same on a machine that others use too.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sysconfig
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import pyarrow as pa
import pyarrow.json as pj
import ray
from timing import Timing, timed

from raydata_ext import scan_dataset
from raydata_ext.engine import Engine, run_all
from raydata_ext.plan import Workspace

BLOCK_BYTES = 4 << 20
CODECS = {"zst": "zstd", "gz": "gzip"}


def count_words(batch: Any) -> dict[str, list[int]]:
    return {"words": [len(text.split()) for text in batch["text"]]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=1500, help="decompressed; 1,500 are about 500 compressed")
    parser.add_argument("--suffix", choices=sorted(CODECS), default="zst", help="the compression")
    parser.add_argument("--max-shard-bytes", type=int, default=64 << 20, help="decompressed bytes of a part")
    parser.add_argument("--small", action="store_true", help="100 MB in parts of 8 MB")
    arguments = parser.parse_args()
    total = (100 if arguments.small else arguments.megabytes) * 1_000_000
    part_bytes = 8 << 20 if arguments.small else arguments.max_shard_bytes
    pa.set_cpu_count(1)  # one core is one core
    pa.set_io_thread_count(1)
    with TemporaryDirectory(prefix="bench-big-files-") as name:
        directory = Path(name)
        path = directory / f"big.jsonl.{arguments.suffix}"
        write_corpus(path, total, CODECS[arguments.suffix])
        print(f"{path.stat().st_size / 1e6:.0f} MB {arguments.suffix}, {total / 1e6:.0f} MB decompressed")
        print(f"{'':42s} seconds   MB/s   ratio CPU sec.   ratio")
        plain = timed(lambda: plain_loop(path, CODECS[arguments.suffix], directory / "plain.arrow"))
        show("plain pyarrow loop, one core", plain, total, plain, in_process=True)
        alone = timed(lambda: decompress(path, CODECS[arguments.suffix]))
        show("decompressing alone", alone, total, plain, in_process=True)
        bench_inline(directory, path, part_bytes, total, plain)
        for workers in (1, 2):
            bench_ray(directory, path, part_bytes, workers, total, plain)


def bench_inline(directory: Path, path: Path, part_bytes: int, total: int, plain: Timing) -> None:
    for name, max_bytes in (("one shard", 4 * path.stat().st_size), ("in parts", part_bytes)):
        lazy = scan(path, directory / f"inline {name}", max_bytes)
        timing = timed(lambda lazy=lazy: lazy.collect(executor="inline"))
        show(f"ours inline, {name}", timing, total, plain, in_process=True)


def bench_ray(directory: Path, path: Path, part_bytes: int, workers: int, total: int, plain: Timing) -> None:
    ray.init(address="local", num_cpus=workers, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    plan = scan(path, directory / f"ray {workers}", part_bytes)
    with Engine("ray", workers=workers) as pool:
        start(directory, pool, workers)
        word = "worker" if workers == 1 else "workers"
        for note in ("", ", cached"):
            timing = timed(lambda: run_all(plan.plan, plan.workspace, pool))
            show(f"ours on Ray in parts, {workers} {word}{note}", timing, total, plain)
    ray.shutdown()


def start(directory: Path, pool: Engine, workers: int) -> None:
    """Have all workers of a pool started."""
    for number in range(4 * workers):
        (directory / f"warm-{number}.jsonl").write_text('{"text": "a b"}\n')
    plan = scan(directory / "warm-*.jsonl", directory / f"warm-up {workers}", 1)
    run_all(plan.plan, plan.workspace, pool)


def scan(path: Path, cache: Path, max_shard_bytes: int) -> Any:
    lazy = scan_dataset(str(path), max_shard_bytes=max_shard_bytes)
    return replace(lazy, workspace=Workspace(cache)).map(count_words, batched=True)


def plain_loop(path: Path, codec: str, output: Path) -> None:
    """What a careful engineer writes by hand for one core."""
    options = pj.ReadOptions(use_threads=False, block_size=BLOCK_BYTES)
    with pa.CompressedInputStream(pa.OSFile(str(path)), codec) as stream:
        reader = pj.open_json(stream, options)
        schema = reader.schema.append(pa.field("words", pa.int64()))
        with pa.ipc.new_stream(str(output), schema) as writer:
            for batch in reader:
                words = count_words({"text": batch.column("text").to_pylist()})["words"]
                writer.write_batch(batch.append_column("words", pa.array(words)))


def decompress(path: Path, codec: str) -> None:
    with pa.CompressedInputStream(pa.OSFile(str(path)), codec) as stream:
        while stream.read(BLOCK_BYTES):
            pass


def write_corpus(path: Path, total: int, codec: str) -> None:
    """Lines of (id, text), the texts of about 1 kB, in words of the standard library's source files."""
    sources = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    words = [word for source in sources for word in source.read_text("utf-8", "replace").split()]
    generator = random.Random(0)
    written = number = 0
    with pa.CompressedOutputStream(pa.OSFile(str(path), "wb"), codec) as stream:
        while written < total:
            first = generator.randrange(len(words) - 300)
            text = " ".join(words[first : first + generator.randrange(60, 260)])
            line = json.dumps({"id": number, "text": text}).encode() + b"\n"
            stream.write(line)
            written += len(line)
            number += 1


def show(name: str, timing: Timing, total: int, plain: Timing, *, in_process: bool = False) -> None:
    cpu = f"{timing.cpu:8.2f} {timing.cpu / plain.cpu:7.2f}" if in_process else ""
    rate, ratio = total / 1e6 / timing.seconds, timing.seconds / plain.seconds
    print(f"{name:42s} {timing.seconds:7.2f} {rate:6.0f} {ratio:7.2f} {cpu}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
