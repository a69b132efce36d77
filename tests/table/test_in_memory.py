"""Tables in memory: made from what users have, and pickled at the cost of the rows that they show."""

from __future__ import annotations

import copy
import pickle

import pandas as pd
import pyarrow as pa
import pytest

from raydata_ext.errors import CorruptFileError, StateError
from raydata_ext.table import InMemoryTable, ShardWriter

PLAIN = pa.table({"a": [1, 2, 3], "b": ["x", None, "z"]})


def test_every_way_of_making_one_gives_the_same_table(tmp_path):
    with ShardWriter(tmp_path / "t.arrow", PLAIN.schema) as writer:
        writer.write(PLAIN.to_batches()[0])
    tables = [
        InMemoryTable(PLAIN),
        InMemoryTable.from_file(tmp_path / "t.arrow"),
        InMemoryTable.copy_of(InMemoryTable(PLAIN)),
        InMemoryTable.from_buffer(pa.py_buffer((tmp_path / "t.arrow").read_bytes())),
        InMemoryTable.from_pandas(PLAIN.to_pandas(), schema=PLAIN.schema),
        InMemoryTable.from_arrays(PLAIN.columns, names=["a", "b"]),
        InMemoryTable.from_pydict(PLAIN.to_pydict()),
        InMemoryTable.from_pylist(PLAIN.to_pylist()),
        InMemoryTable.from_batches(PLAIN.to_batches()),
    ]
    assert all(table == PLAIN and isinstance(table, InMemoryTable) for table in tables)


def test_a_table_read_from_a_file_does_not_need_the_file(tmp_path):
    path = tmp_path / "t.arrow"
    with ShardWriter(path, PLAIN.schema) as writer:
        writer.write(PLAIN.to_batches()[0])
    before = pa.total_allocated_bytes()
    table = InMemoryTable.from_file(path)
    assert pa.total_allocated_bytes() > before
    path.write_bytes(b"\0" * path.stat().st_size)
    assert table == PLAIN


def test_a_damaged_file_is_an_error(tmp_path):
    (tmp_path / "t.arrow").write_bytes(b"something else")
    with pytest.raises(CorruptFileError, match=r"t\.arrow"):
        InMemoryTable.from_file(tmp_path / "t.arrow")


@pytest.mark.parametrize(
    "column",
    [
        pa.array(range(100_000)),
        pa.array(["text"] * 100_000),
        pa.array([[1, 2]] * 100_000),
        pa.array([{"a": "text"}] * 100_000),
        pa.array([True, None] * 50_000),
    ],
    ids=lambda column: str(column.type),
)
def test_pickling_some_rows_costs_these_rows_only(column):
    table = InMemoryTable(pa.table({"c": column}))
    some = table.slice(50_000, 10)
    assert len(pickle.dumps(some)) < 3000
    assert len(pickle.dumps(InMemoryTable(table.table.slice(7, 10)))) < 3000
    assert len(pickle.dumps(table.fast_slice(5, 10))) > 3000  # what plain pyarrow costs
    assert pickle.loads(pickle.dumps(some)) == pa.table({"c": column.slice(50_000, 10)})


def test_protocol_5_hands_the_rows_out_of_band_and_takes_them_back_without_a_copy():
    table = InMemoryTable(pa.table({"n": range(100_000), "s": ["text"] * 100_000}))
    buffers = []
    pickled = pickle.dumps(table, protocol=5, buffer_callback=buffers.append)
    assert len(pickled) < 1500
    assert sum(buffer.raw().nbytes for buffer in buffers) >= table.nbytes
    before = pa.total_allocated_bytes()
    loaded = pickle.loads(pickled, buffers=buffers)
    assert pa.total_allocated_bytes() - before < 1000
    assert loaded == table


def test_a_table_can_be_pickled_and_loaded_with_every_protocol_and_more_than_once():
    table = InMemoryTable(PLAIN).slice(1)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        pickled = pickle.dumps(table, protocol)
        assert pickle.loads(pickled) == pickle.loads(pickled) == PLAIN.slice(1)


def test_columns_of_no_chunks_and_tables_of_no_columns_come_back_as_they_were():
    none = InMemoryTable(pa.table({"c": pa.chunked_array([], pa.string())}))
    assert pickle.loads(pickle.dumps(none)) == none
    assert none.cast(pa.schema([("c", pa.large_string())])).schema.types == [pa.large_string()]
    rows = InMemoryTable(PLAIN).select([])
    assert len(pickle.loads(pickle.dumps(rows))) == 3
    assert len(pickle.loads(pickle.dumps(rows.slice(1)))) == 2


def test_a_deepcopy_shares_all_data():
    table = InMemoryTable(PLAIN)
    before = pa.total_allocated_bytes()
    copied = copy.deepcopy({"one": table, "same": table})
    assert copied["one"].table is PLAIN
    assert copied["one"] is copied["same"]
    assert copied["one"] is not table
    assert pa.total_allocated_bytes() == before


def test_a_state_of_something_else_is_refused():
    for state in ({}, {"table": "rows", "num_rows": 3}, {"table": PLAIN}, 7):
        with pytest.raises(StateError, match="not the state of an InMemoryTable"):
            InMemoryTable.__new__(InMemoryTable).__setstate__(state)


def test_a_slice_of_a_slice_then_columns_of_it_show_the_same_rows():
    table = InMemoryTable(pa.table({"a": range(100), "b": range(100, 200)}))
    shown = table.slice(10, 50).slice(5, 10).select(["b"]).rename_columns(["c"])
    assert shown.to_pydict() == {"c": list(range(115, 125))}
    assert shown.row(3) == {"c": 118}
    assert shown.fast_gather([9, 0]).to_pydict() == {"c": [124, 115]}
    assert isinstance(shown.to_pandas(), pd.DataFrame)
