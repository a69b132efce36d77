"""Fingerprints against the cost of reading the bytes: a closure over a large array, an Arrow table, and plain code.

Run: `python benchmarks/bench_fingerprint.py [megabytes]`. Ratios within one run are what counts; the run fails if a
fingerprint of bytes costs more than `MAX_RATIO` times a plain xxh3 of them.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import xxhash
from timing import fastest

from raydata_ext.fingerprint import fingerprint, hash_value

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_RATIO = 3.0


def seconds(function: Callable[[], object], repeats: int = 5) -> float:
    return fastest(repeats, function).seconds


def closure_over(array: np.ndarray) -> Callable[[int], object]:
    def look_up(index: int) -> object:
        return array[index]

    return look_up


def main() -> int:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    array = np.random.default_rng(0).integers(0, 2**62, megabytes << 17)
    plain = seconds(lambda: xxhash.xxh3_128_digest(array))
    words = pa.array([f"word {index}" for index in range(len(array) // 64)])
    table = pa.table({"number": array, "text": pa.chunked_array([words] * 64)})
    cases = {
        "closure over an array": (lambda: hash_value(closure_over(array)), plain),
        "array, every second column": (lambda: hash_value(array.reshape(-1, 64)[:, ::2]), plain / 2),
        "Arrow table": (lambda: hash_value(table), plain * table.nbytes / array.nbytes),
    }
    print(f"{'plain xxh3':28} {megabytes:6} MB {plain * 1e3:9.1f} ms")
    failed = False
    for name, (function, reference) in cases.items():
        taken = seconds(function)
        failed |= name != "array, every second column" and taken > MAX_RATIO * reference
        print(f"{name:28} {'':9} {taken * 1e3:9.1f} ms   {taken / reference:5.2f} x")
    print(
        f"{'a function, with parts':28} {'':9} {seconds(lambda: fingerprint(closure_over(array[:10]))) * 1e3:9.2f} ms"
    )
    vocabulary = {f"word {index}": index for index in range(100_000)}
    print(f"{'a dict of 100,000 words':28} {'':9} {seconds(lambda: hash_value(vocabulary)) * 1e3:9.1f} ms")
    nested = [[index, str(index)] for index in range(100_000)]
    print(f"{'a list of 100,000 lists':28} {'':9} {seconds(lambda: hash_value(nested), 2) * 1e3:9.1f} ms")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
