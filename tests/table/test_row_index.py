"""Rows are found by number, in one part or many, and parts are opened late and let go early."""

from __future__ import annotations

import threading

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.table import RowIndex
from raydata_ext.table import row_index as module


def plain(num_rows=100, batch_rows=7):
    table = pa.table({"n": range(num_rows), "s": [f"s{i}" for i in range(num_rows)]})
    return pa.Table.from_batches(table.to_batches(max_chunksize=batch_rows), table.schema)


def in_parts(table, part_rows):
    """Return an index over parts of a table, and the list of the parts that it has opened."""
    starts = np.cumsum([0, *part_rows])
    opened = []

    def open_part(number):
        opened.append(number)
        return table.slice(starts[number], part_rows[number])

    return RowIndex(table.schema, part_rows, open_part), opened


def test_a_row_is_located_in_its_record_batch():
    index = RowIndex.of_table(plain())
    batch, place = index.locate(17)
    assert (batch.num_rows, place, batch.column("n")[place].as_py()) == (7, 3, 17)
    assert index.row(17) == {"n": 17, "s": "s17"}
    assert index.num_rows == 100


@pytest.mark.parametrize("row", [-1, 100, 2**70])
def test_a_row_that_is_not_there_is_an_index_error(row):
    index = RowIndex.of_table(plain())
    for find in (index.row, index.locate):
        with pytest.raises(IndexError, match=f"row {row} is out of range for a table of 100 rows"):
            find(row)


@settings(max_examples=100, deadline=None)
@given(
    part_rows=st.lists(st.integers(0, 9), min_size=1, max_size=6),
    batch_rows=st.integers(1, 5),
    offset=st.integers(0, 40),
    length=st.none() | st.integers(-2, 40),
    data=st.data(),
)
def test_slices_rows_sizes_and_gathered_rows_are_those_of_the_plain_table(part_rows, batch_rows, offset, length, data):
    table = plain(sum(part_rows), batch_rows)
    index, _ = in_parts(table, part_rows)
    expected = table.slice(offset, None if length is None else max(length, 0))
    assert index.fast_slice(offset, length).equals(expected)
    stop = min(offset + expected.num_rows, table.num_rows)
    assert pa.Table.from_batches(list(index.iter_batches(offset, stop)), table.schema).equals(expected)
    assert index.nbytes(stop - expected.num_rows, stop) == index.fast_slice(offset, length).nbytes
    rows = table.to_pylist()
    assert [index.row(i) for i in range(len(rows))] == rows
    if rows:
        wanted = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=20))
        assert index.fast_gather(wanted).to_pylist() == [rows[i] for i in wanted]
        again = index.fast_gather(wanted[::-1])
        assert again.to_pylist() == [rows[i] for i in wanted[::-1]]


def test_the_size_of_a_table_is_that_which_pyarrow_finds():
    table = pa.table({"n": range(1000), "s": ["text"] * 1000})
    table = pa.Table.from_batches(table.to_batches(max_chunksize=64), table.schema)
    assert RowIndex.of_table(table).nbytes(0, 1000) == table.nbytes
    assert in_parts(table, [640, 0, 360])[0].nbytes(0, 1000) == table.nbytes


def test_a_negative_offset_is_an_index_error_and_what_passes_the_end_is_left_out():
    index = RowIndex.of_table(plain())
    with pytest.raises(IndexError, match="offset of a slice must not be negative, but is -1"):
        index.fast_slice(-1)
    for offset, length in ((100, None), (200, 5), (0, 0), (3, -5)):
        assert index.fast_slice(offset, length).num_rows == 0
        assert index.fast_slice(offset, length).schema == index.schema
    assert index.fast_slice(98, 99).num_rows == 2


def test_parts_are_opened_when_their_rows_are_touched_and_once():
    index, opened = in_parts(plain(), [40, 30, 30])
    index.row(50)
    index.fast_slice(45, 10)
    index.fast_gather([69, 40])
    assert opened == [1]
    index.fast_gather([0, 69])
    assert opened == [1, 0]
    index.fast_gather([0, 69, 99])
    assert opened == [1, 0, 2]


def test_iterating_holds_one_part_at_a_time():
    index, opened = in_parts(plain(), [40, 30, 30])
    batches = index.iter_batches(0, 100)
    next(batches)
    assert opened == [0]
    assert sum(batch.num_rows for batch in batches) == 93
    assert opened == [0, 1, 2]
    assert not index._parts


def test_parts_that_were_not_used_for_long_are_let_go(monkeypatch):
    monkeypatch.setattr(module, "_MAX_OPEN_BATCHES", 12)
    index, opened = in_parts(plain(), [40, 30, 30])
    for row in (0, 50, 0, 80, 0, 50):
        assert index.row(row)["n"] == row
    assert opened == [0, 1, 2, 1]
    wanted = np.random.default_rng(0).integers(0, 100, 50)
    for _ in range(3):
        assert index.fast_gather(wanted).column("n").to_pylist() == wanted.tolist()


def test_rows_that_are_to_be_copied_hold_on_to_files_only_until_others_need_the_room():
    index, opened = in_parts(plain(), [40, 30, 30])
    found = index.find_rows(np.array([69, 3, 40]))
    assert found.copy(0, 1).column("n").to_pylist() == [69]
    assert sorted(opened) == [0, 1]
    assert module.let_go_of_parts()
    assert not index._parts
    assert found.copy(1, 3).column("n").to_pylist() == [3, 40]
    assert sorted(opened) == [0, 0, 1, 1]


def test_many_threads_may_read_one_index():
    table = plain(5000, 50)
    index, _ = in_parts(table, [500] * 10)
    wrong = []

    def read(seed):
        rng = np.random.default_rng(seed)
        for _ in range(20):
            rows = rng.integers(0, 5000, 30)
            if index.fast_gather(rows).column("n").to_pylist() != rows.tolist():
                wrong.append(rows)
            if index.row(int(rows[0]))["n"] != rows[0]:
                wrong.append(rows[0])

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
