"""Nodes one after the other."""

from __future__ import annotations

import pyarrow as pa

from raydata_ext.streaming.make_source import source_of_tables
from raydata_ext.streaming.nodes.concat import Concat, shards_of
from raydata_ext.streaming.nodes.skip_take import Take
from raydata_ext.streaming.seeds import Seed


def test_parts_come_in_order_and_those_without_rows_are_passed_over(numbers, xs):
    assert xs(Concat((numbers(2), numbers(0), numbers(1, 2)))) == [0, 1, 0, 1, 2]
    assert xs(Concat((numbers(0), numbers(0)))) == []


def test_shards_of_all_parts_are_dealt_and_shuffled_as_one(numbers, xs):
    node = Concat((numbers(1, 1), Take(numbers(5), 3), numbers(1, 1)))
    assert node.num_shards == 5
    assert [xs(node.shard_data_sources(2, i, contiguous=True)) for i in range(2)] == [[0, 1, 0, 1, 2], [0, 1]]
    assert [xs(node.shard_data_sources(3, i)) for i in range(3)] == [[0, 0], [1, 1], [0, 1, 2]]
    orders = {tuple(xs(node.shuffle_data_sources(Seed(seed)))) for seed in range(20)}
    assert len(orders) > 5
    assert all(sorted(order) == [0, 0, 0, 1, 1, 1, 2] for order in orders)


def test_readers_beyond_the_shards_get_a_part_of_each_part(tables, xs):
    node = Concat((tables(4), tables(6)))
    parts = [xs(node.split(3, i)) for i in range(3)]
    assert sorted(x for part in parts for x in part) == sorted([*range(4), *range(6)])
    assert all(parts)


def test_each_row_has_the_columns_of_all_parts_where_these_are_known(rows):
    node = Concat((source_of_tables([pa.table({"x": [1]})]), source_of_tables([pa.table({"y": ["a"]})])))
    assert node.schema == pa.schema([("x", pa.int64()), ("y", pa.string())])
    assert rows(node) == [{"x": 1, "y": None}, {"x": None, "y": "a"}]


def test_what_is_known_of_it_is_known_of_all_parts(tables, generated):
    assert Concat((tables(2), tables(3))).num_rows == 5
    assert Concat((tables(2), generated(3))).num_rows is None
    assert Concat((tables(2), generated(3))).schema is None


def test_shards_of_nested_parts_are_found_where_they_are_all_there_is(generated):
    assert len(shards_of(Concat((generated(2, 3), Concat((generated(1),)))))) == 3
    assert shards_of(Concat((generated(2), Take(generated(3), 1)))) is None


def test_it_goes_on_at_every_row(numbers, goes_on_at_every_row):
    goes_on_at_every_row(lambda: Concat((numbers(2), numbers(0), numbers(1, 3))))
