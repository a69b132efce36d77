"""Files by their units: where they can be cut, and what need not be read."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from raydata_ext.errors import ReadError
from raydata_ext.sources import scan_files
from raydata_ext.streaming import IterableDataset
from raydata_ext.streaming.file_units import cut_files, units_of, without_row_groups_before
from raydata_ext.table import ShardWriter


@pytest.fixture
def files(tmp_path):
    table = pa.table({"x": range(100), "text": [f"row {n}" for n in range(100)]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=10)
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    (tmp_path / "a.txt").write_text("".join(f"{n}\n" for n in range(100)))
    with ShardWriter(tmp_path / "a.arrow", table.schema, batch_rows=10) as writer:
        writer.write(table.to_batches()[0])
    return tmp_path


def numbers(stream):
    return [int(row.get("x", row["text"])) for row in stream]


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "txt", "arrow"])
@pytest.mark.parametrize("parts", [2, 3, 7])
def test_a_file_is_cut_into_about_so_many_shards_of_the_same_rows(files, suffix, parts):
    stream = IterableDataset.from_shards(scan_files(str(files / f"a.{suffix}")).shards).reshard(parts)
    assert 1 < stream.num_shards <= 3 * parts
    assert numbers(stream) == list(range(100))
    again = stream.reshard(stream.num_shards * 3)
    assert numbers(again) == list(range(100))


@pytest.mark.parametrize(("suffix", "shards"), [("parquet", 10), ("arrow", 10), ("jsonl", 1)])
def test_a_file_is_resharded_by_its_units(files, suffix, shards):
    assert IterableDataset.from_shards(scan_files(str(files / f"a.{suffix}")).shards).reshard().num_shards == shards


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "txt", "arrow"])
@pytest.mark.parametrize("count", [2, 4, 30])
def test_readers_of_one_file_read_each_row_once(files, suffix, count):
    stream = IterableDataset.from_shards(scan_files(str(files / f"a.{suffix}")).shards)
    assert sorted(n for i in range(count) for n in numbers(stream.shard(count, i))) == list(range(100))


def test_row_groups_before_a_row_are_not_read(files):
    [shard] = scan_files(str(files / "a.parquet")).shards
    rest, rows = without_row_groups_before(shard.pieces[0], 47)
    assert (rest.start, rest.end, rows) == (4, 10, 7)
    rest, rows = without_row_groups_before(shard.pieces[0], 100)
    assert (rest.start, rest.end, rows) == (10, 10, 0)


def test_units_of_a_part_of_a_file_are_in_that_part(files):
    [shard] = scan_files(str(files / "a.jsonl")).shards
    for part in cut_files(shard, 3):
        [unit] = units_of(part)
        assert unit == part.pieces[0]


def test_a_damaged_row_group_before_the_place_of_resuming_does_not_matter(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": range(5000)}), path, row_group_size=1000)
    shards = scan_files(str(path)).shards
    stream = IterableDataset.from_shards(shards)
    assert next(iter(stream.skip(2500))) == {"x": 2500}
    rows = iter(stream)
    for _ in range(2500):
        next(rows)
    state = stream.state_dict()
    first = cut_files(shards[0], None)[0].pieces[0].num_bytes
    data = bytearray(path.read_bytes())
    data[4:first] = b"\xff" * (first - 4)
    path.write_bytes(data)
    damaged = IterableDataset.from_shards(scan_files(str(path)).shards)
    with pytest.raises(ReadError):
        list(damaged)
    damaged.load_state_dict(state)
    assert [row["x"] for row in damaged] == list(range(2500, 5000))


def test_rows_of_parquet_files_are_counted_by_their_footers(files):
    pq.write_table(pa.table({"x": range(7), "text": ["y"] * 7}), files / "b.parquet")
    stream = IterableDataset.from_shards(scan_files(str(files / "*.parquet")).shards)
    assert len(stream) == 107
    assert len(stream.reshard().shuffle(1).skip(7)) == 100
    assert len(stream.reshard().shard(2, 0)) + len(stream.reshard().shard(2, 1)) == 107


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "feather"])
def test_columns_of_files_are_known_without_reading_rows(files, suffix):
    with pa.OSFile(str(files / "a.feather"), "wb") as file:
        schema = pa.schema([("x", pa.int64()), ("text", pa.string())])
        with pa.ipc.new_file(file, schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
            writer.write_table(pa.table({"x": [1], "text": ["a"]}, schema))
    stream = IterableDataset.from_shards(scan_files(str(files / f"a.{suffix}")).shards)
    assert stream.column_names == ["x", "text"]
    assert stream.schema.field("x").type == pa.int64()
    assert stream.reshard().shuffle(1).rename_column("x", "n").column_names == ["n", "text"]
    mapped = stream.map(lambda row: {"length": len(row["text"])}, remove_columns=stream.column_names)
    assert next(iter(mapped)).keys() == {"length"}


@pytest.mark.parametrize("suffix", ["jsonl", "txt"])
def test_columns_that_only_rows_tell_are_not_known_and_asking_reads_nothing(files, suffix):
    stream = IterableDataset.from_shards(scan_files(str(files / f"a.{suffix}")).shards)
    (files / f"a.{suffix}").unlink()
    assert stream.column_names is stream.schema is None


def test_the_schema_of_several_files_has_the_columns_of_all(tmp_path):
    for part, table in enumerate([pa.table({"x": [1], "y": ["a"]}), pa.table({"x": [1.5], "ü": [True]})]):
        (tmp_path / f"part={part}").mkdir()
        pq.write_table(table, tmp_path / f"part={part}" / "a.parquet")

    def stream(**options):
        return IterableDataset.from_shards(scan_files(str(tmp_path / "**" / "*.parquet"), **options).shards)

    assert stream().schema == pa.schema(
        [("x", pa.float64()), ("y", pa.string()), ("part", pa.int64()), ("ü", pa.bool_())]
    )
    assert stream(columns=["part", "x"]).column_names == ["part", "x"]


def test_the_schema_of_a_damaged_file_is_an_error_that_names_it(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"no parquet")
    stream = IterableDataset.from_shards(scan_files(str(tmp_path / "a.parquet")).shards)
    assert "columns not known" in repr(stream)
    with pytest.raises(ReadError, match=r"a\.parquet"):
        _ = stream.schema
