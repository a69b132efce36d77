"""Several rows as one row of lists."""

from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.plan import SelectColumns
from raydata_ext.streaming.make_source import source_of_tables
from raydata_ext.streaming.nodes.batch import Batch
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.nodes.transform import Transform
from raydata_ext.streaming.rows import BATCH_ROWS


@pytest.mark.parametrize(("size", "drop", "expected"), [(2, False, [[0, 1], [2, 3], [4]]), (2, True, [[0, 1], [2, 3]])])
def test_rows_are_put_together_over_the_borders_of_shards(numbers, size, drop, expected, xs):
    node = Batch(numbers(1, 0, 4), size, drop)
    assert xs(node) == expected
    assert Batch(numbers(1, 0, 4), size, drop).num_rows in (None, len(expected))


def test_more_than_there_are_are_one_batch_or_none(numbers, xs):
    assert xs(Batch(numbers(3), 9, False)) == [[0, 1, 2]]
    assert xs(Batch(numbers(3), 9, True)) == []
    assert xs(Batch(numbers(0), 9, False)) == []


def test_batches_above_what_is_read_at_a_time_are_whole(tables, xs):
    assert [len(x) for x in xs(Batch(tables(3 * BATCH_ROWS), 2 * BATCH_ROWS, False))] == [2 * BATCH_ROWS, BATCH_ROWS]


def test_rows_without_columns_are_counted_as_elsewhere(numbers, rows):
    bare = Transform(numbers(5), SelectColumns(()))
    assert rows(Batch(bare, 2, False)) == [{}, {}, {}]
    assert rows(Batch(bare, 2, True)) == [{}, {}]


def test_the_schema_that_it_tells_is_that_of_its_batches():
    table = pa.table({"ü": pa.array(["a", None]).dictionary_encode(), "n": [[1], [2, 3]]})
    node = Batch(source_of_tables([table]), 2, False)
    batch = open_rows(node, None).next()
    assert batch.schema.equals(node.schema)
    assert batch.to_pylist() == [{"ü": ["a", None], "n": [[1], [2, 3]]}]


@pytest.mark.parametrize("drop", [False, True])
def test_it_goes_on_at_every_row(numbers, drop, goes_on_at_every_row):
    goes_on_at_every_row(lambda: Batch(numbers(2, 0, 5), 3, drop))
