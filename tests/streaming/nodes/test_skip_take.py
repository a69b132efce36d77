"""The first n rows, or all but these."""

from __future__ import annotations

import pytest

from raydata_ext.streaming import IterableDataset
from raydata_ext.streaming.nodes.skip_take import Skip, Take
from raydata_ext.streaming.seeds import Seed


@pytest.mark.parametrize("count", [0, 1, 3, 4, 6, 7, 9])
def test_together_they_are_all_rows_wherever_shards_end(numbers, count, xs):
    source = numbers(3, 0, 4)
    assert xs(Take(source, count)) == list(range(7))[:count]
    assert xs(Skip(source, count)) == list(range(7))[count:]


def test_what_comes_after_the_first_rows_is_not_read():
    from_second = []

    def read(shards):
        for shard in shards:
            if shard:
                from_second.append(shard)
            yield {"x": shard}

    assert list(IterableDataset.from_generator(read, {"shards": [0, 1]}).take(1)) == [{"x": 0}]
    assert from_second == []


def test_their_rows_stay_the_same_however_sources_are_shuffled(numbers, xs):
    for node in (Skip(numbers(2, 2, 2), 3), Take(numbers(2, 2, 2), 3)):
        for seed in range(5):
            assert xs(node.shuffle_data_sources(Seed(seed))) == xs(node)


def test_readers_share_their_rows_and_not_their_shards(numbers, xs):
    assert [xs(Skip(numbers(2, 5), 1).split(2, i)) for i in range(2)] == [[1, 3, 5], [2, 4, 6]]
    assert Take(numbers(2, 5), 1).num_shards == 1


def test_they_know_how_many_rows_they_have(tables, generated):
    assert [Skip(tables(5), n).num_rows for n in (0, 2, 9)] == [5, 3, 0]
    assert [Take(tables(5), n).num_rows for n in (0, 2, 9)] == [0, 2, 5]
    assert Take(generated(5), 2).num_rows is None


@pytest.mark.parametrize("node", [Skip, Take])
@pytest.mark.parametrize("count", [0, 3, 20])
def test_they_go_on_at_every_row(numbers, node, count, goes_on_at_every_row):
    goes_on_at_every_row(lambda: node(numbers(2, 0, 3), count))
