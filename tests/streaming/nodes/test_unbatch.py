"""One row for each element of lists."""

from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.errors import SchemaError
from raydata_ext.streaming.make_source import source_of_tables
from raydata_ext.streaming.nodes.batch import Batch
from raydata_ext.streaming.nodes.unbatch import Unbatch


@pytest.mark.parametrize("list_of", [pa.list_, pa.large_list])
def test_lists_are_taken_apart_and_those_that_are_empty_or_null_are_no_rows(list_of, xs):
    lists = pa.array([[1, 2], [], None, [3]], list_of(pa.int64()))
    assert xs(Unbatch(source_of_tables([pa.table({"x": lists})]))) == [1, 2, 3]


def test_lists_of_fixed_size_are_taken_apart(rows):
    table = pa.table({"x": pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int8(), 2)), "y": [[5, 6], [], [7, 8]]})
    assert rows(Unbatch(source_of_tables([table]))) == [{"x": x, "y": x + 4} for x in (1, 2, 3, 4)]


def test_it_undoes_putting_rows_together(numbers, xs):
    assert xs(Unbatch(Batch(numbers(3, 0, 4), 3, False))) == list(range(7))


def test_lists_of_different_lengths_in_one_row_are_an_error(rows):
    with pytest.raises(SchemaError, match="differ in length"):
        rows(Unbatch(source_of_tables([pa.table({"a": [[1], [1, 2]], "b": [[1], [1]]})])))


def test_its_schema_is_that_of_the_elements(numbers):
    source = source_of_tables([pa.table({"x": [["a"]]})])
    assert Unbatch(source).schema == pa.schema([("x", pa.string())])
    assert Unbatch(source).num_rows is None
    assert Unbatch(numbers(2)).schema is None


def test_it_goes_on_at_every_row(numbers, goes_on_at_every_row):
    goes_on_at_every_row(lambda: Unbatch(Batch(numbers(2, 0, 5), 3, False)))
