"""Shards that are read front to back."""

from __future__ import annotations

import logging

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from raydata_ext.errors import StepError
from raydata_ext.sources import scan_files
from raydata_ext.streaming.make_source import source_of_generator, source_of_shards
from raydata_ext.streaming.nodes.gather import open_rows


@pytest.fixture
def parquet(tmp_path):
    """Sizes of files -> a source of the rows {"x": 0} and so on, in row groups of two."""

    def write(*sizes):
        for number, size in enumerate(sizes):
            first = sum(sizes[:number])
            pq.write_table(
                pa.table({"x": pa.array(range(first, first + size), pa.int64())}),
                tmp_path / f"{number}.parquet",
                row_group_size=2,
            )
        return source_of_shards(shard for i in range(len(sizes)) for shard in _shards(tmp_path / f"{i}.parquet"))

    return write


def _shards(path):
    return scan_files(str(path)).shards


def test_files_without_rows_are_passed_over(parquet, xs):
    assert xs(parquet(0, 3, 0, 0, 2, 0)) == [0, 1, 2, 3, 4]
    assert xs(parquet(0)) == []


def test_readers_beyond_the_shards_get_row_groups(parquet, xs):
    node = parquet(5, 2)
    assert sorted(x for i in range(4) for x in xs(node.split(4, i))) == list(range(7))
    assert all(xs(node.split(4, i)) for i in range(4))


def test_readers_of_what_cannot_be_cut_get_every_nth_row_and_are_told(generated, xs, caplog):
    with caplog.at_level(logging.WARNING):
        assert [xs(generated(7).split(3, i)) for i in range(3)] == [[0, 3, 6], [1, 4], [2, 5]]
    assert len([record for record in caplog.records if "cannot be cut for 3 readers" in record.message]) == 1


def test_rows_and_columns_of_files_are_known_from_their_footers_when_asked(parquet):
    node = parquet(3, 0, 2)
    assert (node.num_rows, node.schema) == (None, None)
    assert node.counted().num_rows == 5
    assert node.typed().schema == pa.schema([("x", pa.int64())])
    assert node.typed().counted().schema is not None


def test_resharding_cuts_files_at_row_groups(parquet, xs):
    node = parquet(5, 4).reshard_data_sources()
    assert node.num_shards == 5
    assert xs(node) == list(range(9))


@pytest.mark.parametrize("sizes", [(3,), (2, 0, 3)])
def test_it_goes_on_at_every_row(parquet, sizes, goes_on_at_every_row):
    parquet(*sizes)
    goes_on_at_every_row(lambda: parquet(*sizes))


def test_a_shard_whose_reading_failed_is_gone_on_with_and_not_passed_over():
    failed = []

    def lines(shards):
        for shard in shards:
            yield {"x": shard}
            if shard == 1 and not failed:
                failed.append(shard)
                raise OSError("connection lost")
            yield {"x": shard * 10}

    cursor = open_rows(source_of_generator(lines, {"shards": [1, 2]}, None), None)
    assert cursor.next().to_pylist() == [{"x": 1}]
    with pytest.raises(StepError, match="connection lost"):
        cursor.next()
    assert [cursor.next().to_pylist() for _ in range(3)] == [[{"x": 10}], [{"x": 2}], [{"x": 20}]]


def test_a_generator_with_a_schema_tells_it():
    schema = pa.schema([("x", pa.int8())])
    assert source_of_generator(lambda: iter(()), {}, schema).schema == schema
    assert source_of_generator(lambda: iter(()), {}, None).schema is None
