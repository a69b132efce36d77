"""Files of any size are read in the memory of a few blocks; measured in a process that does nothing else."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROW = {"id": 12345, "text": "lorem ipsum dolor sit amet " * 20, "tags": ["a", "b"], "score": 0.5}
BLOCK_ROWS = 5000
ALLOWED_BYTES = 190_000_000
"""Above what the process has when its modules are loaded. Blocks have 4 MB, and their rows about as much; the measured
peaks are 25 to 145 MB (CSV), whatever the size of the file."""

READ_ALL = """
import sys
from raydata_ext.sources import scan_files

def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))

source = scan_files(sys.argv[1], max_shard_bytes=1 << 40)
before = status("VmRSS")
rows = sum(batch.num_rows for shard in source.shards for _, batch in shard.read())
print(rows, status("VmHWM") - before)
"""


def lines() -> bytes:
    return (json.dumps(ROW) + "\n").encode() * BLOCK_ROWS


def records() -> bytes:
    return f'{ROW["id"]},"{ROW["text"]}",{ROW["score"]}\n'.encode() * BLOCK_ROWS


def zst(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


def repeated(block: bytes, plain: int, head: bytes = b"", tail: bytes = b"") -> Callable[[Path, int], int]:
    """A file of as many blocks, of `plain` bytes when they are decompressed, as it takes."""

    def write(path: Path, num_bytes: int) -> int:
        count = num_bytes // plain
        with path.open("wb") as file:
            file.write(head)
            for number in range(count):
                file.write(block)
                file.write(b"" if number == count - 1 else tail)
        return count * BLOCK_ROWS

    return write


def in_one_frame(codec: str) -> Callable[[Path, int], int]:
    def write(path: Path, num_bytes: int) -> int:
        block = lines()
        with pa.OSFile(str(path), "wb") as file, pa.CompressedOutputStream(file, codec) as stream:
            for _ in range(num_bytes // len(block)):
                stream.write(block)
        return num_bytes // len(block) * BLOCK_ROWS

    return write


def parquet(path: Path, num_bytes: int) -> int:
    """Row groups of 32 MB, in which no value comes twice."""
    rows = num_bytes // len(json.dumps(ROW))
    group = 50_000
    schema = pa.schema([("id", pa.int64()), ("text", pa.string())])
    with pq.ParquetWriter(path, schema, compression="snappy", use_dictionary=False) as writer:
        for start in range(0, rows, group):
            ids = range(start, start + group)
            writer.write_table(pa.table({"id": ids, "text": [f"{number} {ROW['text']}" for number in ids]}, schema))
    return -(-rows // group) * group


def as_elements(block: bytes) -> bytes:
    return block.rstrip(b"\n").replace(b"\n", b",\n")


FILES: dict[str, Callable[[Path, int], int]] = {
    "data.jsonl": repeated(lines(), len(lines())),
    "frames.jsonl.zst": repeated(zst(lines()), len(lines())),
    "members.jsonl.gz": repeated(gzip.compress(lines(), 1), len(lines())),
    "frame.jsonl.zst": in_one_frame("zstd"),
    "frame.jsonl.lz4": in_one_frame("lz4"),
    "data.txt": repeated(lines(), len(lines())),
    "data.csv": repeated(records(), len(records()), head=b"id,text,score\n"),
    "data.parquet": parquet,
}
ARRAY = as_elements(lines())


def write_array(path: Path, num_bytes: int) -> int:
    rows = repeated(ARRAY, len(ARRAY), head=b"[", tail=b",\n")(path, num_bytes)
    with path.open("ab") as file:
        file.write(b"]")
    return rows


FILES["data.json"] = write_array


SMALL = [(name, 200_000_000) for name in ("data.jsonl", "frames.jsonl.zst", "data.csv", "data.parquet")]
LARGE = [pytest.param(name, 1_000_000_000, marks=pytest.mark.slow) for name in FILES]


@pytest.mark.parametrize(("name", "num_bytes"), [*SMALL, *LARGE])
def test_a_file_is_read_in_the_memory_of_a_few_blocks(tmp_path: Path, name: str, num_bytes: int) -> None:
    path = tmp_path / name
    expected = FILES[name](path, num_bytes)
    try:
        done = subprocess.run([sys.executable, "-c", READ_ALL, str(path)], capture_output=True, text=True, check=True)
    finally:
        path.unlink()
    rows, peak = map(int, done.stdout.split())
    assert rows == expected
    assert peak < ALLOWED_BYTES
