"""Damage small Arrow IPC files in many ways and open, verify and read each; prints what came of them as JSON.

Run as a program of its own, `ipc_fuzz.py DIRECTORY FIRST_SEED COUNT`, since what it looks for are crashes.
"""

from __future__ import annotations

import contextlib
import decimal
import json
import random
import sys
from datetime import datetime, timezone
from pathlib import Path

import pyarrow as pa

from raydata_ext.errors import CorruptFileError
from raydata_ext.table.ipc_reader import iter_ipc_batches, open_ipc_file, read_ipc_schema
from raydata_ext.table.verify import verify_ipc_file

COLUMNS = {
    "int": pa.array([1, None] * 6),
    "bool": pa.array([True, None, False] * 4),
    "string": pa.array(["a", "é", None] * 4),
    "large_string": pa.array(["a", "b", None] * 4, pa.large_string()),
    "string_view": pa.array(["more than twelve bytes", None, "b"] * 4, pa.string_view()),
    "fixed_binary": pa.array([b"abc"] * 12, pa.binary(3)),
    "list": pa.array([[1, 2], None, []] * 4),
    "large_list": pa.array([["x"], None, []] * 4, pa.large_list(pa.string())),
    "list_view": pa.array([[1, 2], None, []] * 4, pa.list_view(pa.int64())),
    "fixed_list": pa.array([[1, 2], None, [3, 4]] * 4, pa.list_(pa.int8(), 2)),
    "struct": pa.array([{"a": 1, "b": ["x"]}, None, {"a": None, "b": None}] * 4),
    "map": pa.array([[("k", 1)], None, []] * 4, pa.map_(pa.string(), pa.int64())),
    "dictionary": pa.array(["a", "b", None] * 4).dictionary_encode(),
    "list_of_dictionary": pa.array([["a", "b"], None, []] * 4, pa.list_(pa.dictionary(pa.int8(), pa.string()))),
    "time": pa.array([datetime(2020, 1, 1, tzinfo=timezone.utc)] * 12, pa.timestamp("us", "UTC")),
    "decimal": pa.array([decimal.Decimal("1.23")] * 12),
    "null": pa.nulls(12),
    "json": pa.array(["{}"] * 12, pa.json_()),
    "run_end": pa.RunEndEncodedArray.from_arrays(pa.array([3, 6, 12], pa.int32()), pa.array(["x", None, "y"])),
    "sparse_union": pa.UnionArray.from_sparse(
        pa.array([0, 1] * 6, pa.int8()), [pa.array(range(12)), pa.array(["x"] * 12)]
    ),
    "dense_union": pa.UnionArray.from_dense(
        pa.array([0, 1] * 6, pa.int8()),
        pa.array([index // 2 for index in range(12)], pa.int32()),
        [pa.array(range(6)), pa.array(["x"] * 6)],
    ),
}
GROUPS = [
    ["int", "string", "list", "struct", "dictionary"],
    ["large_string", "fixed_binary", "bool"],
    ["large_list", "fixed_list"],
    ["map", "null"],
    ["time", "decimal", "json"],
    ["string_view", "list_view"],
    ["list_of_dictionary"],
    ["run_end", "sparse_union", "dense_union"],
]


def whole_files() -> list[bytes]:
    """Return the undamaged files: each group of columns as a stream, a compressed stream, and a file."""
    files = []
    for group in GROUPS:
        batch = pa.record_batch({name: COLUMNS[name] for name in group})
        for make, compression in ((pa.ipc.new_stream, None), (pa.ipc.new_stream, "lz4"), (pa.ipc.new_file, None)):
            sink = pa.BufferOutputStream()
            with make(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
                writer.write_batch(batch)
                writer.write_batch(batch)
            files.append(sink.getvalue().to_pybytes())
    return files


def damage(rng: random.Random, whole: bytes, other: bytes) -> bytes:
    """Return a file with one to eight injuries."""
    data = bytearray(whole)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        if not data:
            break
        at = rng.randrange(len(data))
        kind = rng.randrange(11)
        if kind < 4:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 4:
            data[at] = rng.choice([0, 1, 127, 128, 255])
        elif kind == 5:
            value = rng.choice([0, 1, -1, 2**31 - 1, -(2**31), 2**30, len(data), len(data) - 8, 64, 7])
            data[at - at % 4 : at - at % 4 + 4] = value.to_bytes(4, "little", signed=True)
        elif kind == 6:
            value = rng.choice([0, -1, 2**63 - 1, -(2**63), 2**62, 2**40, 2**32, len(data)])
            data[at - at % 8 : at - at % 8 + 8] = value.to_bytes(8, "little", signed=True)
        elif kind == 7:
            del data[at:]
            data += rng.choice([b"", bytes(max(len(whole) - at, 0)), b"\xff\xff\xff\xff\0\0\0\0"])
        elif kind == 8:
            del data[at : at + rng.randrange(1, 64)]
        elif kind == 9:
            data[at:at] = rng.randbytes(rng.randrange(1, 64))
        else:
            data[at:] = other[rng.randrange(len(other)) :]
    return bytes(data)


def try_file(path: Path) -> str:
    """Open, verify and read a file. Only a `CorruptFileError` is expected of opening and verifying."""
    outcome = "refused"
    with contextlib.suppress(CorruptFileError):
        read_ipc_schema(path)
    with contextlib.suppress(CorruptFileError):
        for _ in iter_ipc_batches(path):
            pass
    try:
        table = open_ipc_file(path)
        outcome = "opened"
        verify_ipc_file(path)
    except CorruptFileError:
        return outcome
    for column in table.columns:
        try:
            column.slice(0, 100).to_pylist()
        except UnicodeDecodeError:
            raise
        except (ValueError, OverflowError, decimal.InvalidOperation):
            continue  # a date beyond the year 9999 or an unknown time zone is valid, though Python does not have it
    return "verified"


def main(directory: str, first: str, count: str) -> None:
    """Damage `count` files, each a function of its seed."""
    files = whole_files()
    path = Path(directory) / "damaged.arrow"
    outcomes = {"refused": 0, "opened": 0, "verified": 0}
    for seed in range(int(first), int(first) + int(count)):
        rng = random.Random(seed)
        path.unlink(missing_ok=True)  # a new file, for the one before may still be mapped
        path.write_bytes(damage(rng, rng.choice(files), rng.choice(files)))
        outcomes[try_file(path)] += 1
    sys.stdout.write(json.dumps(outcomes))


if __name__ == "__main__":
    main(*sys.argv[1:])
