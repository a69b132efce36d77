"""How fast raw files are listed, grouped, recognised and read, beside pyarrow's and Python's own readers.

Usage: python benchmarks/bench_sources.py [--rows 200000] [--files 10000] [--directory DIR]

Figures are processor seconds, the best of some runs.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import pyarrow.csv
import pyarrow.json
from timing import fastest

from raydata_ext.sources import list_files, make_reader
from raydata_ext.sources.grouping import group_files
from raydata_ext.sources.identity import IdentityIndex, Sighting
from raydata_ext.sources.input_file import InputFile, Piece
from raydata_ext.sources.line_blocks import line_blocks

ROW = {"id": 7, "text": 'some words that make a "line" of text ' * 10, "meta": {"url": None, "day": "2020-01-01"}}
REPEATS = 3
LONG_AGO_NS = 1_000_000_000_000_000_001


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--directory", default=None)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.directory) as directory:
        compare_readers(Path(directory), arguments.rows)
        list_and_recognise(Path(directory), arguments.files)


def compare_readers(directory: Path, rows: int) -> None:
    """Read one file of each format from begin to end with our reader and with the field's own."""
    line = json.dumps(ROW)
    formats = {
        "text": ("some words that make a line of text of about this length\n" * (rows * 4), read_lines),
        "jsonl": (f"{line}\n" * rows, pyarrow.json.read_json),
        "json": (f"[{','.join([line] * rows)}]", lambda path: json.loads(path.read_text())),
        "csv": ("a,b,c,d\n" + '12,"some text, quoted, that goes on",3.5,plain words\n' * rows, pyarrow.csv.read_csv),
    }
    for name, (content, peer) in formats.items():
        path = directory / f"corpus.{name}"
        path.write_text(content)
        megabytes = path.stat().st_size / 1e6
        ours = fastest(REPEATS, lambda path=path, name=name: read_ours(path, name)).cpu
        theirs = fastest(REPEATS, lambda path=path, peer=peer: peer(path)).cpu
        print(
            f"{name:6s} {megabytes:6.0f} MB: ours {megabytes / ours:6.0f} MB/s, "
            f"peer {megabytes / theirs:6.0f} MB/s, {ours / theirs:5.2f}x its time"
        )
        path.unlink()


def read_ours(path: Path, name: str) -> int:
    [file] = list_files(path)
    return sum(batch.num_rows for batch in make_reader(name, {}).read(Piece(file)))


def read_lines(path: Path) -> int:
    """The loop that a user would write: decode and count lines."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        return sum(1 for _ in lines)


def list_and_recognise(directory: Path, count: int) -> None:
    """List many small files, cut a list into groups, look contents up, and find the one line of a large file."""
    for number in range(count):
        place = directory / "many" / str(number % 10)
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number}.txt").touch()
    pattern = f"{directory}/many/**/*.txt"
    show(f"list {count} files", lambda: list_files(pattern))
    names = [f"{number:06}.txt" for number in range(10 * count)]
    sizes = [100_000] * len(names)
    show(f"group {len(names)} files", lambda: group_files(names, sizes, 256 << 20))
    pieces = [Piece(InputFile(f"/c/{n % 100}/{n}.txt", f"{n}.txt", n, f"{LONG_AGO_NS}:{n}")) for n in range(3 * count)]
    index = IdentityIndex(directory / "index")
    index.add(Sighting(piece, "0" * 32, time.time_ns()) for piece in pieces)
    index.save()
    show(f"look up {len(pieces)} contents", lambda: list(map(IdentityIndex(index.directory).content, pieces)))
    path = directory / "line.txt"
    path.write_bytes(b"x" * (32 << 20))
    [file] = list_files(path)
    show("find the one line of 32 MB in blocks of 4 kB", lambda: list(line_blocks(Piece(file), 1 << 12)))


def show(name, action) -> None:
    print(f"{name:45s} {fastest(REPEATS, action).cpu:7.3f} s")


if __name__ == "__main__":
    main()
