"""The same rows several times."""

from __future__ import annotations

import itertools

import pytest

from raydata_ext.plan import Filter, UserFunction
from raydata_ext.streaming import IterableDataset
from raydata_ext.streaming.nodes.buffer_shuffle import BufferShuffle
from raydata_ext.streaming.nodes.repeat import Repeat
from raydata_ext.streaming.nodes.transform import Transform
from raydata_ext.streaming.seeds import Seed


@pytest.mark.parametrize("times", [0, 1, 3])
def test_rows_come_so_many_times_in_one_order(numbers, times, xs):
    child = BufferShuffle(numbers(3, 4), 3, Seed(1), 10)
    assert xs(Repeat(child, times)) == xs(child) * times
    assert xs(Repeat(numbers(0, 0), times)) == []


def test_without_a_number_there_is_no_end(numbers):
    endless = IterableDataset(Repeat(numbers(2), None))
    assert [row["x"] for row in itertools.islice(endless, 7)] == [0, 1, 0, 1, 0, 1, 0]


def test_no_rows_without_end_are_no_rows(numbers, xs):
    def nothing(row):
        return False

    assert xs(Repeat(numbers(0), None)) == []
    assert xs(Repeat(Transform(numbers(4), Filter(function=UserFunction(nothing))), None)) == []


def test_readers_repeat_what_they_get(tables, xs):
    assert [xs(Repeat(tables(2, 2), 2).split(2, i)) for i in range(2)] == [[0, 1, 0, 1], [2, 3, 2, 3]]


def test_its_rows_are_known_where_there_is_an_end(tables):
    assert Repeat(tables(3), 4).num_rows == 12
    assert Repeat(tables(3), None).num_rows is None


def test_it_goes_on_at_every_row(numbers, goes_on_at_every_row):
    goes_on_at_every_row(lambda: Repeat(numbers(2, 0, 1), 3))
