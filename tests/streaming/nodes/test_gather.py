"""Rows read where they are referred to."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from raydata_ext.streaming.make_source import source_of_tables
from raydata_ext.streaming.nodes.gather import TableRows, open_rows
from raydata_ext.streaming.nodes.skip_take import Take
from raydata_ext.table import InMemoryTable


def batches_of(node):
    cursor, batches = open_rows(node, None), []
    while (batch := cursor.next()) is not None:
        batches.append(batch)
    return batches


def address(batch):
    return batch.column(0).buffers()[1].address + 8 * batch.column(0).offset


def test_rows_next_to_one_another_are_not_copied():
    column = pa.array(range(3000))
    batches = batches_of(source_of_tables([pa.table({"x": column})]))
    assert [batch.num_rows for batch in batches] == [1000, 1000, 1000]
    assert [address(batch) for batch in batches] == [column.buffers()[1].address + 8000 * i for i in range(3)]


def test_record_batches_of_other_sizes_are_not_copied_either():
    table = pa.concat_tables([pa.table({"x": range(700)}), pa.table({"x": range(650)})])
    assert [batch.num_rows for batch in batches_of(source_of_tables([table]))] == [700, 650]


def test_record_batches_of_few_rows_are_put_together():
    table = pa.concat_tables([pa.table({"x": [i]}) for i in range(2500)])
    batches = batches_of(source_of_tables([table]))
    assert [batch.num_rows for batch in batches] == [1000, 1000, 500]
    assert [x for batch in batches for x in batch.column("x").to_pylist()] == list(range(2500))


def test_tables_of_different_columns_are_read_under_one_schema():
    source = source_of_tables([pa.table({"x": [1]}), pa.table({"x": [2.5], "y": ["a"]})])
    assert pa.Table.from_batches(batches_of(source)).to_pylist() == [{"x": 1.0, "y": None}, {"x": 2.5, "y": "a"}]


def test_rows_in_any_order_come_in_that_order():
    rows = TableRows(InMemoryTable(pa.table({"x": range(10)})))
    assert rows.gather(np.array([3, 4, 6, 5])).column("x").to_pylist() == [3, 4, 6, 5]
    assert rows.gather(np.array([2, 2, 4])).column("x").to_pylist() == [2, 2, 4]  # its ends are as far apart as a run's


def test_a_stream_of_no_rows_has_no_batches():
    assert batches_of(Take(source_of_tables([pa.table({"x": [1]})]), 0)) == []
    assert batches_of(source_of_tables([pa.table({"x": pa.array([], pa.int64())})])) == []


def test_large_rows_are_gathered_a_few_at_a_time():
    rows = TableRows(InMemoryTable(pa.table({"x": [b"x" * (1 << 20)] * 30})))
    assert rows.gather(np.arange(30)[::-1]).num_rows == 15


def test_rows_that_are_sorted_by_length_are_gathered_a_few_at_a_time_too():
    short, long = [b""] * 2000, [b"x" * (1 << 16)] * 2000
    rows = TableRows(InMemoryTable(pa.table({"x": short + long})))
    assert rows.gather(np.arange(4000)[::-1]).nbytes < 64 << 20
