"""Shards that are read front to back."""

from __future__ import annotations

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
    sizes = [batch.num_rows for batch in GeneratorShard(count_up).read_from(0)]
    assert sizes == [1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 976]


@pytest.mark.parametrize("row", [0, 1, 2, 500, 1024, 2999, 3000])
def test_a_generator_goes_on_at_any_row(row):
    rows = [x for batch in GeneratorShard(count_up).read_from(row) for x in batch.column("x").to_pylist()]
    assert rows == list(range(row, 3000))


@pytest.mark.parametrize("row", [0, 1, 4, 5, 6, 9, 10])
def test_files_go_on_at_any_row(row, tmp_path):
    (tmp_path / "a.txt").write_text("".join(f"{n}\n" for n in range(5)))
    (tmp_path / "b.txt").write_text("".join(f"{n}\n" for n in range(5, 10)))
    [shard] = scan_files(str(tmp_path / "*.txt")).shards
    rows = [int(x) for batch in stream_shard(shard).read_from(row) for x in batch.column("text").to_pylist()]
    assert rows == list(range(row, 10))


def test_tables_and_files_make_one_stream(tmp_path):
    (tmp_path / "a.txt").write_text("1\n2\n")
    table = TableShard(InMemoryTable(pa.table({"text": ["0"]})))
    stream = IterableDataset.from_shards([table, *scan_files(str(tmp_path / "a.txt")).shards, table])
    assert [row["text"] for row in stream] == ["0", "1", "2", "0"]
    assert stream.num_shards == 3


def test_no_shards_make_a_stream_of_no_rows():
    assert list(IterableDataset.from_shards([])) == []
    assert len(IterableDataset.from_shards([]).shuffle(1)) == 0
