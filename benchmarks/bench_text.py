"""Token datasets: putting rows in order, cutting blocks, reading items, making batches, masking.

Run: `python benchmarks/bench_text.py [rows]` (default one million). Prints what each costs and, for what has a budget,
fails where it is passed. The plain loops beside it are what the same work costs row by row. Times are CPU times of one
process, which other work on the machine does not change much.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from timing import fastest

from raydata_ext.table import InMemoryTable
from raydata_ext.text import ArrowTokenDataset, Dictionary, LanguagePairDataset, MaskTokensDataset, TokenBlockDataset

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

BATCH = 100
ORDER_NS = 60.0
COLLATE_US = 1.0


def seconds(function: Callable[[], object], repeats: int = 7) -> float:
    return fastest(repeats, function).cpu


def tokens(rows: int, seed: int) -> ArrowTokenDataset:
    rng = np.random.default_rng(seed)
    offsets = np.concatenate(([0], np.cumsum(rng.integers(5, 50, rows))))
    lists = pa.LargeListArray.from_arrays(offsets, rng.integers(4, 30_000, offsets[-1], dtype=np.int32))
    return ArrowTokenDataset(InMemoryTable(pa.table({"input_ids": lists})))


def vocabulary() -> Dictionary:
    dictionary = Dictionary()
    for number in range(30_000):
        dictionary.add_symbol(f"w{number}")
    return dictionary


def collate_by_rows(samples: list[dict[str, Any]], pad: int, eos: int) -> list[NDArray[np.int64]]:
    samples = sorted(samples, key=lambda sample: -len(sample["source"]))
    matrices = []
    for key, first, left in (("source", [], True), ("target", [], False), ("target", [eos], False)):
        width = max(len(sample[key]) for sample in samples)
        matrix = np.full((len(samples), width), pad, np.int64)
        for row, sample in enumerate(samples):
            values = np.concatenate((first, sample[key][: len(sample[key]) - len(first)]))
            matrix[row, slice(width - len(values), None) if left else slice(len(values))] = values
        matrices.append(matrix)
    return matrices


def main() -> int:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    dictionary = vocabulary()
    source, target = tokens(rows, 1), tokens(rows, 2)
    pairs = LanguagePairDataset(source, None, dictionary, target, None, dictionary)
    failed = False

    order = seconds(pairs.ordered_indices, 15) / rows * 1e9
    failed |= order > ORDER_NS
    print(f"{'ordered_indices, pairs':44} {order:9.1f} ns/item   (budget {ORDER_NS:.0f})")
    blocks = seconds(lambda: TokenBlockDataset(source, None, 512, 1, 2, "complete"), 3) / rows * 1e9
    print(f"{'TokenBlockDataset, complete':44} {blocks:9.1f} ns/item")
    picked = np.random.default_rng(3).integers(0, rows, 1000).tolist()
    print(f"{'ArrowTokenDataset, an item':44} {seconds(lambda: [source[row] for row in picked]) * 1e3:9.2f} us")

    samples = pairs.__getitems__(picked[:BATCH])
    plain = seconds(lambda: collate_by_rows(samples, 1, 2), 100) / BATCH * 1e6
    print(f"{'collate, a loop over rows':44} {plain:9.2f} us/sentence")
    for kind in ("np", "pt"):
        taken = seconds(lambda kind=kind: pairs.collater(samples, return_tensors=kind), 3000) / BATCH * 1e6
        failed |= taken > COLLATE_US
        print(f"{f'collate, {kind}':44} {taken:9.2f} us/sentence   (budget {COLLATE_US:.0f})")

    mask = dictionary.add_symbol("<mask>")
    chunks = TokenBlockDataset(source, None, 512, 1, 2)
    numbers = np.random.default_rng(4).integers(0, len(chunks), BATCH).tolist()
    reading = seconds(lambda: [chunks[number] for number in numbers]) / BATCH * 1e6
    for compat in (True, False):
        masked = MaskTokensDataset(chunks, dictionary, 1, mask, compat=compat)
        taken = seconds(lambda masked=masked: masked.__getitems__(numbers)) / BATCH * 1e6 - reading
        print(f"{f'masking of 512 tokens, compat={compat}':44} {taken:9.1f} us/item")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
