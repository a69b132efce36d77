"""Rows read where they are referred to."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from raydata_ext.streaming.make_source import source_of_tables
from raydata_ext.streaming.nodes.base import Cursor
from raydata_ext.streaming.nodes.gather import TableRows, open_rows
from raydata_ext.streaming.nodes.skip_take import Take
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.rows import COPIED_BYTES
from raydata_ext.table import InMemoryTable


def batches_of(node):
    cursor, batches = open_rows(node, None), []
    while (batch := cursor.next()) is not None:
        batches.append(batch)
    return batches


class Listed(Cursor):
    """References out of a list, in pieces of one size."""

    def __init__(self, references, piece):
        self.references, self.piece, self.at = np.array(references), piece, 0

    def next(self):
        found = self.references[self.at : self.at + self.piece]
        self.at += len(found)
        return found if len(found) else None

    def state(self):
        return self.at

    def load(self, state):
        self.at = state


def rows_of(table, references, piece=8000):
    return TableRows(Listed(references, piece), table)


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
    table = InMemoryTable(pa.table({"x": range(10)}))
    assert rows_of(table, [3, 4, 6, 5]).next().column("x").to_pylist() == [3, 4, 6, 5]
    assert rows_of(table, [2, 2, 4]).next().column("x").to_pylist() == [2, 2, 4]  # its ends are as far apart as a run's


def test_a_stream_of_no_rows_has_no_batches():
    assert batches_of(Take(source_of_tables([pa.table({"x": [1]})]), 0)) == []
    assert batches_of(source_of_tables([pa.table({"x": pa.array([], pa.int64())})])) == []


def test_large_rows_are_copied_a_few_at_a_time_whatever_rows_are_beside_them():
    short, long = [b""] * 2000, [b"x" * (1 << 17)] * 2000
    table = InMemoryTable(pa.table({"x": short + long}))
    order = np.random.default_rng(0).permutation(4000)
    rows, found = rows_of(table, order.tolist()), []
    while (batch := rows.next()) is not None:
        assert batch.nbytes < COPIED_BYTES + 100_000
        found += batch.column("x").to_pylist()
    assert [len(x) for x in found] == [len(table.row(i)["x"]) for i in order.tolist()]


def test_a_row_that_is_larger_than_what_is_copied_at_a_time_comes_alone():
    table = InMemoryTable(pa.table({"x": [b"x" * (COPIED_BYTES + 1)] * 3}))
    rows = rows_of(table, [2, 1, 0])
    assert [rows.next().num_rows for _ in range(3)] == [1, 1, 1]
    assert rows.next() is None


def test_large_rows_that_are_taken_at_once_are_copied_at_once():
    table = InMemoryTable(pa.table({"x": [b"x" * COPIED_BYTES] * 9}))
    rows = rows_of(table, [8, 6, 7, 1, 0])
    assert [rows.next_of(2).num_rows, rows.next_of(3).num_rows] == [2, 3]


def test_batches_come_in_one_piece_whatever_pieces_their_references_come_in():
    table = InMemoryTable(pa.table({"x": range(30_000)}))
    rows = rows_of(table, np.random.default_rng(0).permutation(30_000).tolist(), piece=1234)
    pieces = [rows.next_of(700).num_rows for _ in range(3)]
    assert [rows % 700 for rows in pieces] == [0, 0, 0]
    assert min(pieces) > 5000


def test_a_position_within_a_piece_of_references_is_exact():
    table = InMemoryTable(pa.table({"x": range(9000), "y": ["y" * 500] * 9000}))
    order = np.random.default_rng(0).permutation(9000).tolist()
    rows, done, states = rows_of(table, order, piece=1234), 0, []
    while (batch := rows.next_of(1000)) is not None:
        done += batch.num_rows
        states.append((done, rows.state()))
    assert len(states) > 2
    for done, state in states:
        later = rows_of(table, order, piece=1234)
        later.load(state)
        rest = RowReader(later).read(None)
        assert ([] if rest is None else rest.column("x").to_pylist()) == order[done:]


def test_of_tables_of_very_many_columns_fewer_rows_are_found_at_a_time():
    table = InMemoryTable(pa.table({str(i): pa.nulls(3000) for i in range(1000)}))
    assert rows_of(table, range(3000)[::-1]).next().num_rows < 2000
