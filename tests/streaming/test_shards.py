"""Shards that are read front to back."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.plan import TableShard
from raydata_ext.sources import scan_files
from raydata_ext.streaming import IterableDataset
from raydata_ext.streaming.shards import GeneratorShard, stream_shard
from raydata_ext.table import InMemoryTable


def count_up(count=3000):
    yield from ({"x": number} for number in range(count))


def test_batches_of_a_generator_grow_to_a_thousand_rows():
    sizes = [batch.num_rows for _, batch in GeneratorShard(count_up).read_from(0, 0)]
    assert sizes == [1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 976]


@pytest.mark.parametrize("row", [0, 1, 2, 500, 1024, 2999, 3000])
def test_a_generator_goes_on_at_any_row(row):
    rows = [x for _, batch in GeneratorShard(count_up).read_from(0, row) for x in batch.column("x").to_pylist()]
    assert rows == list(range(row, 3000))


@pytest.fixture
def two_files(tmp_path):
    (tmp_path / "a.txt").write_text("".join(f"{n}\n" for n in range(5)))
    (tmp_path / "b.txt").write_text("".join(f"{n}\n" for n in range(5, 10)))
    [shard] = scan_files(str(tmp_path / "*.txt")).shards
    return stream_shard(shard)


@pytest.mark.parametrize(("unit", "row"), [(0, 0), (0, 1), (0, 4), (0, 5), (1, 0), (1, 4), (1, 5)])
def test_files_go_on_at_any_row(unit, row, two_files):
    found = list(two_files.read_from(unit, row))
    assert [int(x) for _, batch in found for x in batch.column("text").to_pylist()] == list(range(unit * 5 + row, 10))
    assert all(int(batch.column("text")[0].as_py()) // 5 == number for number, batch in found)


def test_some_rows_of_a_file_are_read_by_number(two_files):
    found = two_files.read_rows(1, np.array([0, 3, 4]))
    assert [x for batch in found for x in batch.column("text").to_pylist()] == ["5", "8", "9"]


def test_some_rows_of_json_lines_are_read_by_number_and_blank_lines_are_none(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'\xef\xbb\xbf{"x": 0}\n\n{"x": 1}\r\n  \n{"x": 2}')
    [shard] = scan_files(str(tmp_path / "a.jsonl")).shards
    [batch] = stream_shard(shard).read_rows(0, np.array([0, 2]))
    assert batch.column("x").to_pylist() == [0, 2]


def test_some_rows_of_a_generator_are_made_without_those_after_them():
    made = []

    def rows():
        for number in range(100):
            made.append(number)
            yield {"x": number}

    found = GeneratorShard(rows).read_rows(0, np.array([10, 12]))
    assert [x for batch in found for x in batch.column("x").to_pylist()] == [10, 12]
    assert max(made) < 30


def test_lines_are_divided_into_units_that_are_read_each_without_the_others(tmp_path):
    lines = [f"{n} " + "y" * 1000 for n in range(4000)]
    (tmp_path / "a.txt").write_text("\n".join(lines))
    [shard] = scan_files(str(tmp_path / "a.txt")).shards
    shard = stream_shard(shard)
    assert shard.num_units == 4
    found = list(shard.read_from(0, 0))
    assert [x for _, batch in found for x in batch.column("text").to_pylist()] == lines
    rest = [batch for number, batch in found if number == 2]
    assert [batch for number, batch in shard.read_from(2, 0) if number == 2] == rest


def test_tables_and_files_make_one_stream(tmp_path):
    (tmp_path / "a.txt").write_text("1\n2\n")
    table = TableShard(InMemoryTable(pa.table({"text": ["0"]})))
    stream = IterableDataset.from_shards([table, *scan_files(str(tmp_path / "a.txt")).shards, table])
    assert [row["text"] for row in stream] == ["0", "1", "2", "0"]
    assert stream.num_shards == 3


def test_no_shards_make_a_stream_of_no_rows():
    assert list(IterableDataset.from_shards([])) == []
    assert len(IterableDataset.from_shards([]).shuffle(1)) == 0
