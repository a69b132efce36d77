"""Rows that cannot be read are set aside, and what is whole comes out."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import raydata_ext as rdx
from raydata_ext.engine import Engine, ErrorPolicy, run_all
from raydata_ext.engine.quarantine import records_of
from raydata_ext.errors import ReadError

ROWS = 3000


def run(lazy):
    with Engine("inline") as engine:
        parts = run_all(lazy.plan, lazy.workspace, engine, errors=ErrorPolicy("quarantine"))
    receipts = [result.receipt for part in parts for result in part]
    assert all(one.rows_in == one.rows + one.quarantined for one in receipts)
    return lazy.make_dataset(parts[-1], lazy.workspace), list(records_of(lazy.workspace.store, receipts))


@pytest.fixture
def scan(tmp_path):
    return lambda name, **options: rdx.scan_dataset(str(tmp_path / name), cache_dir=tmp_path / "cache", **options)


@pytest.mark.parametrize("shard_bytes", [10_000_000, 10_000, 999])
def test_bad_lines_of_json_are_told_by_file_row_and_byte_in_byte_ranges_too(tmp_path, scan, shard_bytes):
    bad = {0, 1, 777, 1500, 1501, ROWS - 1}
    lines = [b'{"n": %d, "broken' % n if n in bad else b'{"n": %d}' % n for n in range(ROWS)]
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    dataset, records = run(scan("rows.jsonl", max_shard_bytes=shard_bytes))
    assert dataset["n"] == [n for n in range(ROWS) if n not in bad]
    content = path.read_bytes()
    shown = [content[record["byte_offset"] :].split(b"\n")[0].decode() for record in records]
    assert shown == [json.loads(record["row_json"])["raw"] for record in records]
    assert [int(text.partition(", ")[0][6:]) for text in shown] == sorted(bad)
    for record in records:
        piece = record["source"].removeprefix(str(path)).strip("[]").partition(":")[0]
        begin = content.index(b"\n", max(int(piece or 0) - 1, 0)) + 1 if int(piece or 0) else 0
        assert content.count(b"\n", begin, record["byte_offset"]) == record["row"]


def test_bad_lines_in_the_middle_of_blocks_leave_no_trace(tmp_path, scan):
    filler = "x" * 1000
    rows = [json.dumps({"n": n, "text": filler, "even": n / 2 if n % 2 else n // 2}) for n in range(9000)]
    with_bad = [row for n, row in enumerate(rows) for row in ([row, "{" + row] if n % 1000 == 500 else [row])]
    (tmp_path / "good.jsonl").write_text("\n".join(rows))
    (tmp_path / "bad.jsonl").write_text("\n".join(with_bad))
    dataset, records = run(scan("bad.jsonl"))
    assert dataset.to_dict() == scan("good.jsonl").collect(executor="inline").to_dict()
    assert [record["row"] for record in records] == [501 + 1001 * k for k in range(9)]


def test_a_row_of_another_type_than_those_before_it_is_set_aside(tmp_path, scan):
    (tmp_path / "rows.jsonl").write_text('{"n": 1}\n{"n": "two"}\n{"n": 3}\n{"n": {"four": 4}}\n')
    dataset, records = run(scan("rows.jsonl"))
    assert dataset["n"] == [1, 3]
    assert [record["row"] for record in records] == [1, 3]


def test_lines_that_cannot_be_decoded_are_set_aside(tmp_path, scan):
    (tmp_path / "rows.txt").write_bytes(b"one\n\xff\xfe\n\nfour\n\xe9t\xe9\nsix")
    dataset, records = run(scan("rows.txt"))
    assert dataset["text"] == ["one", "", "four", "six"]
    assert [(record["row"], record["byte_offset"]) for record in records] == [(1, 4), (4, 13)]
    assert json.loads(records[1]["row_json"]) == {"raw": "\\xe9t\\xe9"}


def test_steps_name_rows_by_their_numbers_in_the_file(tmp_path, scan):
    (tmp_path / "rows.txt").write_bytes(b"one\n\xff\nthree\n\xff\n\xff\nsix\nseven\n")

    def fail(row):
        assert row["text"] in {"one", "seven"}

    dataset, records = run(scan("rows.txt").map(fail))
    assert dataset["text"] == ["one", "seven"]
    assert [record["row"] for record in records] == [1, 3, 4, 2, 5]


def test_a_file_as_a_row_that_cannot_be_decoded_is_set_aside(tmp_path, scan):
    for name, content in (("a.txt", b"good"), ("b.txt", b"\xff"), ("c.txt", b"good too")):
        (tmp_path / name).write_bytes(content)
    dataset, (record,) = run(scan("*.txt", unit="file"))
    assert dataset["text"] == ["good", "good too"]
    assert (record["source"], record["row"]) == (str(tmp_path / "b.txt"), 0)


@pytest.mark.parametrize("shard_bytes", [10_000_000, 20_000])
def test_of_a_truncated_compressed_file_the_whole_lines_come_out_and_one_record(tmp_path, scan, shard_bytes):
    content = b"".join(b'{"n": %d, "text": "%s"}\n' % (n, str(n**9).encode()) for n in range(ROWS))
    packed = gzip.compress(content)
    (tmp_path / "rows.jsonl.gz").write_bytes(packed[: len(packed) * 2 // 3])
    lazy = scan("rows.jsonl.gz", max_shard_bytes=shard_bytes)
    with pytest.raises(ReadError, match="truncated or damaged"):
        lazy.collect(executor="inline")
    dataset, (record,) = run(lazy)
    assert dataset["n"] == list(range(len(dataset)))
    assert 1000 < len(dataset) < ROWS
    rest = content[record["byte_offset"] :]
    assert rest.startswith(b'{"n": %d,' % len(dataset))
    assert "nothing is read from here on" in record["message"]


def test_of_a_damaged_parquet_file_the_row_groups_before_come_out(tmp_path, scan):
    path = tmp_path / "rows.parquet"
    table = pa.table({"n": range(ROWS), "text": [str(n) for n in range(ROWS)]})
    pq.write_table(table, path, row_group_size=1000, write_page_checksum=True)
    group = pq.ParquetFile(path).metadata.row_group(2).column(1)
    content = bytearray(path.read_bytes())
    content[group.data_page_offset + 200] ^= 0xFF
    path.write_bytes(content)
    dataset, (record,) = run(scan("rows.parquet"))
    assert dataset["n"] == list(range(2000))
    assert record["row"] == 2000
    assert 0 < record["byte_offset"] < group.data_page_offset


@pytest.mark.parametrize("as_file", [False, True])
@pytest.mark.parametrize("shard_bytes", [10_000_000, 5_000])
def test_of_a_truncated_arrow_file_the_batches_before_come_out(tmp_path, scan, as_file, shard_bytes):
    path = tmp_path / "rows.arrow"
    table = pa.table({"n": range(ROWS)})
    with (pa.ipc.new_file if as_file else pa.ipc.new_stream)(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=500)
    path.write_bytes(path.read_bytes()[:16_000])
    dataset, (record,) = run(scan("rows.arrow", max_shard_bytes=shard_bytes))
    assert len(dataset) == 1500
    assert dataset["n"] == list(range(1500))
    assert record["row"] == 1500
    assert 12_000 < record["byte_offset"] < 16_000


def test_a_file_that_is_something_else_is_one_record(tmp_path, scan):
    pq.write_table(pa.table({"n": [1, 2]}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"no parquet at all")
    dataset, (record,) = run(scan("*.parquet"))
    assert dataset["n"] == [1, 2]
    assert record["source"] == str(tmp_path / "b.parquet")


def test_records_of_csv_that_do_not_fit_are_set_aside(tmp_path, scan):
    (tmp_path / "rows.csv").write_text("n,text\n1,one\n2\n3,three\n4,four,five\n5,five\n")
    dataset, records = run(scan("rows.csv"))
    assert dataset.to_dict() == {"n": [1, 3, 5], "text": ["one", "three", "five"]}
    assert [record["row"] for record in records] == [1, 3]
    assert json.loads(records[0]["row_json"]) == {"raw": "2\n"}


def test_elements_of_a_json_array_that_are_no_rows_are_set_aside(tmp_path, scan):
    (tmp_path / "rows.json").write_text('[{"n": 1}, 2, {"n": 3}, {"n": }, {"n": 5}]')
    dataset, records = run(scan("rows.json"))
    assert dataset["n"] == [1, 3, 5]
    assert [(record["row"], record["byte_offset"]) for record in records] == [(1, 10), (3, 23)]


def test_a_file_that_changed_is_an_error_also_where_bad_rows_are_set_aside(tmp_path, scan):
    (tmp_path / "rows.jsonl").write_text('{"n": 1}\n')
    lazy = scan("rows.jsonl")
    (tmp_path / "rows.jsonl").write_text('{"n": 1}\n{"n": 2}\n')
    with pytest.raises(ReadError, match="changed since it was listed"):
        run(lazy)
