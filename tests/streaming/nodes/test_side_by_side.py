"""Columns of several nodes in one row."""

from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.errors import SchemaError
from raydata_ext.plan import RenameColumns
from raydata_ext.streaming.nodes.side_by_side import SideBySide
from raydata_ext.streaming.nodes.transform import Transform
from raydata_ext.streaming.seeds import Seed


def renamed(node, name):
    return Transform(node, RenameColumns((("x", name),)))


@pytest.fixture
def pair(tables, generated):
    """Two sources of the same rows, whose batches and shards have other borders."""
    return SideBySide((renamed(tables(2, 5), "a"), renamed(generated(4, 1, 2), "b")))


def test_row_i_holds_row_i_of_each_part_whatever_their_batches(pair, rows):
    assert rows(pair) == [{"a": i, "b": i} for i in range(7)]


def test_rows_stay_together_however_it_is_shuffled_and_split(pair, rows):
    assert rows(pair.shuffle_data_sources(Seed(1))) == rows(pair)
    found = [rows(pair.split(3, i)) for i in range(3)]
    assert found == [[{"a": x, "b": x} for x in range(i, 7, 3)] for i in range(3)]
    assert pair.num_shards == 1


@pytest.mark.parametrize("sizes", [(3, 2), (0, 1)])
def test_a_part_that_ends_before_another_is_an_error(numbers, sizes, rows):
    with pytest.raises(SchemaError, match=r"part \d has ended, and others have more rows"):
        rows(SideBySide(tuple(renamed(numbers(size), f"c{i}") for i, size in enumerate(sizes))))


def test_parts_without_rows_are_no_rows(numbers, rows):
    assert rows(SideBySide((renamed(numbers(0), "a"), renamed(numbers(0), "b")))) == []


def test_two_columns_of_one_name_are_an_error(numbers, rows):
    with pytest.raises(SchemaError, match="more than one has a column 'x'"):
        rows(SideBySide((numbers(2), numbers(2))))


def test_its_schema_is_that_of_its_parts_in_order(tables):
    node = SideBySide((renamed(tables(2), "b"), renamed(tables(2), "a")))
    assert node.schema == pa.schema([("b", pa.int64()), ("a", pa.int64())])
    assert node.num_rows == 2


def test_it_goes_on_at_every_row(pair, goes_on_at_every_row):
    goes_on_at_every_row(lambda: pair)
