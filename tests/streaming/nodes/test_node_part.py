"""The part of a stream that one node of a cluster reads."""

from __future__ import annotations

import pytest

from raydata_ext.plan import Map, UserFunction
from raydata_ext.streaming.nodes.buffer_shuffle import BufferShuffle
from raydata_ext.streaming.nodes.node_part import NodePart
from raydata_ext.streaming.nodes.transform import Transform
from raydata_ext.streaming.seeds import Seed


def parts(node, count, strategy="auto", remainder="uneven"):
    return [NodePart(node, rank, count, strategy, remainder) for rank in range(count)]


def test_shards_are_dealt_where_each_rank_gets_equally_many_and_rows_elsewhere(numbers, xs):
    assert [xs(part) for part in parts(numbers(1, 2, 1, 2), 2)] == [[0, 3], [1, 2, 4, 5]]
    assert [xs(part) for part in parts(numbers(2, 3, 2), 2)] == [[0, 2, 4, 6], [1, 3, 5]]


def test_the_strategy_that_is_asked_for_is_taken(numbers, xs):
    assert [xs(part) for part in parts(numbers(2, 3, 2), 2, "shards")] == [[0, 1, 5, 6], [2, 3, 4]]
    assert [xs(part) for part in parts(numbers(1, 2), 2, "rows")] == [[0, 2], [1]]


@pytest.mark.parametrize(("remainder", "expected"), [("drop", [2, 2, 2]), ("pad", [3, 3, 3]), ("uneven", [3, 3, 2])])
def test_the_remainder_is_dropped_repeated_or_dealt(numbers, remainder, expected, xs):
    assert [len(xs(part)) for part in parts(numbers(8), 3, "rows", remainder)] == expected


@pytest.mark.parametrize("strategy", ["shards", "rows"])
def test_ranks_share_the_order_of_each_epoch(numbers, strategy, xs):
    node = BufferShuffle(numbers(3, 3, 3, 3).shuffle_data_sources(Seed(1)), 4, Seed(1), 10)
    seen = set()
    for epoch in range(4):
        found = [xs(part.at_epoch(epoch) if epoch else part) for part in parts(node, 2, strategy)]
        assert sorted(x for of_rank in found for x in of_rank) == list(range(12))
        seen.add(tuple(map(tuple, found)))
    assert len(seen) == 4


def test_what_a_rank_reads_is_shared_by_its_loader_processes(numbers, xs):
    for strategy in ("shards", "rows"):
        for part in parts(numbers(5, 4, 3, 6), 2, strategy):
            shared = [xs(part.split(3, i).shift_seeds(i)) for i in range(3)]
            assert sorted(x for of_process in shared for x in of_process) == sorted(xs(part))


def test_parts_of_parts_are_all_rows_once(numbers, xs):
    found = [xs(inner) for outer in parts(numbers(7, 6), 2, "rows") for inner in parts(outer, 3, "rows")]
    assert sorted(x for part in found for x in part) == list(range(13))


def test_a_row_that_goes_to_another_rank_is_not_computed(tables, rows):
    seen = []

    def look(row):
        seen.append(row["x"])

    [_, second] = parts(Transform(tables(6), Map(function=UserFunction(look))), 2, "rows")
    rows(second)
    assert seen == [1, 3, 5]


def test_it_tells_what_its_part_has(tables):
    [first, second] = parts(tables(4, 3), 2, "shards")
    assert (first.num_rows, second.num_rows) == (4, 3)
    assert first.schema == tables(1).schema
    assert first.settings != second.settings


@pytest.mark.parametrize("strategy", ["shards", "rows"])
def test_it_goes_on_at_every_row(numbers, strategy, goes_on_at_every_row):
    goes_on_at_every_row(lambda: NodePart(numbers(3, 0, 2, 4), 1, 2, strategy, "pad"))
