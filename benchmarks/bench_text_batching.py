"""Choosing, cutting and dealing batches of sentences: time a sentence, and memory, beside fairseq's way.

Run `python benchmarks/bench_text_batching.py`, with `--rows 100000000` for as many sentences (which takes 2 GB; of them
only a part is done in fairseq's way). Lengths are drawn like those of translation corpora. fairseq's way is what the
copy of InfoXLM does, in plain Python: a call for the size of each sentence, and lists of lists. Ratios are theirs
divided by ours. All is CPU time of one process, which other work on the machine does not change much.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from raydata_ext.text.batch_by_size import batch_by_size
from raydata_ext.text.batches import Batches
from raydata_ext.text.filter_by_size import filter_by_size
from raydata_ext.text.iterators import EpochBatchIterator

CLEAR_PEAK = Path("/proc/self/clear_refs")
BATCH_NS = 80.0
SETTINGS = [
    ("4096 tokens", {"max_tokens": 4096}),
    ("4096 tokens, 7 sentences", {"max_tokens": 4096, "max_sentences": 7}),
    ("4096 tokens, 8 sentences", {"max_tokens": 4096, "max_sentences": 8}),
    ("512 tokens", {"max_tokens": 512}),
    ("16384 tokens", {"max_tokens": 16384}),
    ("64 sentences", {"max_sentences": 64}),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000, help="sentences")
    parser.add_argument("--their-rows", type=int, default=200_000, help="sentences that are done in fairseq's way")
    options = parser.parse_args()
    rows, theirs = options.rows, min(options.rows, options.their_rows)
    sizes, _ = timed(lambda: lengths(rows))
    print(f"{rows:,} sentences, lengths {sizes.nbytes / 1e9:.2f} GB; memory {peak():.2f} GB at most")
    order, seconds = timed(lambda: np.argsort(sizes, kind="stable"))
    print(f"sorting by length: {1e9 * seconds / rows:.1f} ns a sentence; memory {peak():.2f} GB at most")
    ordered = sizes[order]
    failed = False
    for name, limits in SETTINGS[: 1 if rows > 10**7 else None]:
        batches, seconds = timed(
            lambda limits=limits: batch_by_size(order, num_tokens_vec=ordered, required_batch_size_multiple=8, **limits)
        )
        print(
            f"{len(batches):,} batches: {seconds:.2f} s, {batches.nbytes / 1e9:.2f} GB; memory {peak():.2f} GB at most"
        )
        failed |= 1e9 * seconds / rows > BATCH_NS
        _, reference = timed(lambda limits=limits: greedy(order[:theirs], sizes.item, **limits))
        show(f"batches of {name}", seconds / rows, reference / theirs)
    kept, seconds = timed(lambda: filter_by_size(order, Sizes(sizes), 250))
    _, reference = timed(lambda: [row for row in order[:theirs].tolist() if sizes.item(row) <= 250])
    show(f"filter_by_size, {len(kept):,} kept", seconds / rows, reference / theirs)
    bench_batches(batches)
    return int(failed)


def bench_batches(batches: Batches) -> None:
    """Share batches as a file, begin an epoch, and resume in its middle."""
    with TemporaryDirectory(prefix="bench-batching-") as directory:
        path = Path(directory) / "batches.arrow"
        _, seconds = timed(lambda: batches.save(path))
        print(f"{'save batches':32} {seconds:.3f} s")
        opened, seconds = timed(lambda: Batches.open(path))
        print(f"{'map them':32} {1000 * seconds:.2f} ms")
        iterator = EpochBatchIterator(range(10**12), len, opened, num_shards=8)
        _, seconds = timed(lambda: next(iterator.next_epoch_itr()))
        print(f"{'first batch of an epoch':32} {1000 * seconds:.1f} ms of {len(opened):,} batches, 8 shards")
        half = len(opened) // 2
        state = iterator.state_dict() | {"position": half}
        resumed = EpochBatchIterator(range(10**12), len, opened, num_shards=3)
        resumed.load_state_dict(state)
        _, seconds = timed(lambda: next(resumed.next_epoch_itr()))
        print(f"{'first batch, resumed at 50 %':32} {1000 * seconds:.1f} ms, 3 shards")


class Sizes:
    """A dataset of which only the lengths are known."""

    def __init__(self, sizes):
        self.sizes = sizes


def lengths(rows: int) -> np.ndarray:
    """Lengths between 1 and 250, 24 in the median, uint16."""
    rng = np.random.default_rng(0)
    sizes = np.empty(rows, np.uint16)
    for start in range(0, rows, 1 << 22):
        part = sizes[start : start + (1 << 22)]
        part[:] = np.clip(rng.lognormal(3.2, 0.6, len(part)), 1, 250)
    return sizes


def greedy(indices, num_tokens, max_tokens=None, max_sentences=None):
    """What fairseq does, without rounding to a multiple."""
    batches, batch, longest = [], [], 0
    for index in indices.tolist():
        size = num_tokens(index)
        longest = max(longest, size)
        full = len(batch) == max_sentences or (max_tokens is not None and (len(batch) + 1) * longest > max_tokens)
        if batch and full:
            batches.append(batch)
            batch, longest = [], size
        batch.append(index)
    return [*batches, batch]


def timed(work):
    CLEAR_PEAK.write_text("5")
    started = time.process_time()
    result = work()
    return result, time.process_time() - started


def peak() -> float:
    """Most memory that the process had since `timed` began, in GB."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1e6


def show(name: str, ours: float, theirs: float) -> None:
    print(f"{name:36} {1e9 * ours:7.1f} ns a sentence, fairseq's way {1e9 * theirs:6.0f} ({theirs / ours:.0f}x)")


if __name__ == "__main__":
    sys.exit(main())
