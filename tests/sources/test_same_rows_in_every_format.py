"""One corpus in every format and every compression gives the same rows."""

from __future__ import annotations

import csv
import io
import json
import tarfile
from typing import TYPE_CHECKING

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import raydata_ext as rdx
from raydata_ext.errors import ReadError
from raydata_ext.sources import scan_files

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = ["plain", "", 'quotes " and, commas', "größe 😀\u2028", "a\ttab\nand a line", "0123", "null", "x" * 3000]
ROWS = [
    {
        "id": number,
        "score": number / 4,
        "ok": number % 3 == 0,
        "text": f"{TEXTS[number % len(TEXTS)]}",
        "gap": None if number % 2 else number,
    }
    for number in range(500)
]
TABLE = pa.Table.from_pylist(ROWS)


def jsonl() -> bytes:
    return "".join(json.dumps(row) + "\n" for row in ROWS).encode()


def delimited(delimiter: str) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(ROWS[0])
    for row in ROWS:
        out.write(delimiter.join(_field(value) for value in row.values()) + "\n")
    return out.getvalue().encode()


def _field(value: object) -> str:
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return "" if value is None else str(value)


def parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(TABLE, out, row_group_size=100)
    return out.getvalue()


def arrow(make=pa.ipc.new_stream) -> bytes:
    out = io.BytesIO()
    with make(out, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=100)
    return out.getvalue()


def tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for number, row in enumerate(ROWS):
            content = json.dumps(row).encode()
            info = tarfile.TarInfo(f"{number:06}.json")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


FLAT = {
    "data.jsonl": jsonl,
    "data.json": lambda: json.dumps(ROWS, indent=1).encode(),
    "data.csv": lambda: delimited(","),
    "data.tsv": lambda: delimited("\t"),
    "data.tar": tar,
}
BINARY = {
    "data.parquet": parquet,
    "data.arrow": arrow,
    "data.feather": lambda: arrow(pa.ipc.new_file),
}


def rows_of(path: object) -> list[dict[str, object]]:
    rows = [row for shard in scan_files(path).shards for _, batch in shard.read() for row in batch.to_pylist()]
    return [row.get("json", row) for row in rows]


@pytest.mark.parametrize("name", [*FLAT, *BINARY])
def test_every_format_gives_the_same_rows(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes({**FLAT, **BINARY}[name]())
    assert rows_of(tmp_path) == ROWS


@pytest.mark.parametrize("name", FLAT)
def test_so_does_every_compression_by_suffix_or_by_what_the_file_begins_with(
    tmp_path: Path, compress, codec: str, name: str
) -> None:
    packed = compress(FLAT[name]())
    for file in (tmp_path / "a" / f"{name}.{codec}", tmp_path / "b" / name):
        file.parent.mkdir()
        file.write_bytes(packed)
        assert rows_of(file) == ROWS


@pytest.mark.parametrize("name", FLAT)
def test_a_truncated_file_is_an_error_that_names_the_byte(tmp_path: Path, compress, name: str) -> None:
    packed = compress(FLAT[name]())
    (tmp_path / name).write_bytes(packed[: len(packed) // 2])
    with pytest.raises(ReadError, match=rf"{name}: byte \d+ of the decompressed data .*truncated or damaged"):
        rows_of(tmp_path)


def test_six_formats_are_equal_data_sets(tmp_path: Path) -> None:
    datasets.Dataset(TABLE).save_to_disk(tmp_path / "saved", num_shards=2)
    for name in ("data.jsonl", "data.json", "data.csv", "data.parquet", "data.arrow"):
        (tmp_path / name).write_bytes({**FLAT, **BINARY}[name]())
    paths = [tmp_path / name for name in ("data.jsonl", "data.json", "data.csv", "data.parquet", "data.arrow", "saved")]
    found = [rdx.load_dataset(path, executor="inline") for path in paths]
    assert [data.column_names for data in found] == [TABLE.column_names] * 6
    assert [data[:] for data in found] == [TABLE.to_pydict()] * 6
    assert {data.schema.remove_metadata() for data in found} == {TABLE.schema}
