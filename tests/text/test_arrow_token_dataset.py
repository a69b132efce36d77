from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import raydata_ext as rdx
from raydata_ext.dataset import Dataset, load_from_disk
from raydata_ext.errors import SchemaError
from raydata_ext.table import InMemoryTable, MemoryMappedTable, ShardWriter, concat_tables
from raydata_ext.text.arrow_token_dataset import ArrowTokenDataset

ROWS = [[5, 6, 2], [], [7, 2], [8], [9, 9, 9, 2]]


def mapped(path, rows, batch_rows=2):
    tokens = pa.list_(pa.int32())
    schema = pa.schema([("input_ids", tokens), ("text", pa.string())])
    with ShardWriter(path, schema, batch_rows=batch_rows) as writer:
        writer.write(pa.record_batch([pa.array(rows, tokens), ["x"] * len(rows)], schema=schema))
    return MemoryMappedTable.from_file(path)


def test_rows_of_many_shards_are_read_in_place(tmp_path):
    parts = [mapped(tmp_path / f"{number}.arrow", ROWS[number:]) for number in range(4)]
    dataset = ArrowTokenDataset(concat_tables(parts))
    rows = [row for number in range(4) for row in ROWS[number:]]
    assert [item.tolist() for item in dataset] == rows
    assert dataset.sizes.tolist() == [len(row) for row in rows]
    assert [dataset.size(row) for row in range(len(rows))] == [len(row) for row in rows]
    assert dataset[-1].tolist() == rows[-1]
    assert dataset[0].dtype == np.int32
    assert not dataset[0].flags.owndata
    assert not dataset[0].flags.writeable


def test_items_share_the_memory_of_the_table():
    column = pa.array(ROWS, pa.list_(pa.int64()))
    dataset = ArrowTokenDataset(InMemoryTable(pa.table({"input_ids": column})))
    values = column.values.to_numpy()
    assert all(np.shares_memory(item, values) for item in dataset if len(item))


def test_a_data_set_from_a_directory_is_read(tmp_path):
    Dataset.from_dict({"ids": ROWS}).save_to_disk(tmp_path / "tokens")
    dataset = ArrowTokenDataset(load_from_disk(tmp_path / "tokens"), column="ids")
    assert [item.tolist() for item in dataset] == ROWS


@given(
    st.lists(st.lists(st.integers(0, 2**15 - 1), max_size=5), max_size=12),
    st.sampled_from([pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64()]),
    st.sampled_from([pa.list_, pa.large_list]),
    st.integers(0, 3),
    st.integers(1, 4),
)
@settings(max_examples=100, deadline=None)
def test_slices_and_types_of_all_kinds_are_right(rows, value_type, list_of, start, batch_rows):
    column = pa.array(rows, list_of(value_type))
    table = pa.Table.from_batches(
        pa.table({"input_ids": column}).to_batches(batch_rows), pa.schema([("input_ids", column.type)])
    )
    dataset = ArrowTokenDataset(InMemoryTable(table).slice(start))
    assert [item.tolist() for item in dataset] == rows[start:]
    assert dataset.sizes.tolist() == [len(row) for row in rows[start:]]


@pytest.mark.parametrize("width", [0, 3])
def test_lists_of_fixed_size_are_read(width):
    rows = [[number] * width for number in range(5)]
    column = pa.array(rows, pa.list_(pa.int64(), width))
    dataset = ArrowTokenDataset(InMemoryTable(pa.table({"input_ids": column})).slice(2))
    assert [item.tolist() for item in dataset] == rows[2:]


def test_what_travels_is_paths(tmp_path):
    rows = [[number] * 100 for number in range(1000)]
    dataset = ArrowTokenDataset(mapped(tmp_path / "a.arrow", rows, batch_rows=50))
    assert dataset.sizes.sum() == 100_000
    sent = pickle.dumps(dataset)
    assert len(sent) < 5_000
    assert pickle.loads(sent)[999].tolist() == rows[999]


def test_no_file_is_opened_before_rows_are_asked_for(tmp_path):
    table = mapped(tmp_path / "a.arrow", ROWS)
    lazy = MemoryMappedTable.from_file(tmp_path / "gone.arrow", schema=table.schema, num_rows=5, num_bytes=100)
    dataset = ArrowTokenDataset(lazy)
    assert len(dataset) == 5
    with pytest.raises(FileNotFoundError):
        dataset[0]


def test_no_rows_are_fine():
    dataset = ArrowTokenDataset(InMemoryTable(pa.table({"input_ids": pa.array([], pa.list_(pa.int32()))})))
    assert (len(dataset), list(dataset), dataset.sizes.tolist()) == (0, [], [])


def test_rows_outside_are_named():
    dataset = ArrowTokenDataset(InMemoryTable(pa.table({"input_ids": ROWS})))
    with pytest.raises(IndexError, match="ArrowTokenDataset: index 5 is out of range for 5 rows"):
        dataset[5]


def test_columns_without_tokens_are_errors_that_say_so():
    table = InMemoryTable(pa.table({"text": ["a"], "f": [[0.5]]}))
    with pytest.raises(KeyError, match="no column 'input_ids'; the columns are"):
        ArrowTokenDataset(table)
    for column in ("text", "f"):
        with pytest.raises(SchemaError, match=f"column '{column}' is .*; tokens are lists of integers"):
            ArrowTokenDataset(table, column)


def test_nulls_are_errors_that_name_the_row():
    rows = pa.table({"input_ids": pa.array([[1], [2], None], pa.list_(pa.int32()))})
    with pytest.raises(SchemaError, match="'input_ids', row 2: it is null"):
        ArrowTokenDataset(InMemoryTable(rows))[0]
    tokens = pa.table({"input_ids": pa.array([[1], [2, None], [3]], pa.list_(pa.int32()))})
    with pytest.raises(SchemaError, match="'input_ids', row 1: a token is null"):
        ArrowTokenDataset(InMemoryTable(tokens)).sizes  # noqa: B018 - asking is the point
    assert ArrowTokenDataset(InMemoryTable(tokens).slice(2))[0].tolist() == [3]


def test_a_copy_in_another_process_makes_the_same_kind_of_batches():
    dataset = ArrowTokenDataset(InMemoryTable(pa.table({"input_ids": ROWS})))
    dataset.return_tensors = "np"
    assert pickle.loads(pickle.dumps(dataset)).return_tensors == "np"


def test_rows_that_were_chosen_and_ordered_are_the_items():
    dataset = rdx.Dataset.from_dict({"input_ids": [[row] * (row % 4) for row in range(20)]})
    chosen = rdx.concatenate_datasets([dataset.select([7, 3, 3]), dataset.shuffle(seed=1), dataset.select([])])
    tokens = pickle.loads(pickle.dumps(ArrowTokenDataset(chosen)))
    assert [item.tolist() for item in tokens] == chosen["input_ids"][:]
    assert tokens.sizes.tolist() == list(map(len, chosen["input_ids"]))


@pytest.mark.parametrize("kind", [pa.list_(pa.int32()), pa.large_list(pa.int64()), pa.list_(pa.int8(), 2)])
def test_parts_of_columns_are_read_where_they_begin(kind):
    whole = pa.array([[1, 2], None, [3, 4], [5, 6], [7, None]], kind)
    column = pa.chunked_array([whole.slice(2, 2), whole.slice(0, 1), whole[:0], whole.slice(3, 1)])
    dataset = ArrowTokenDataset(InMemoryTable(pa.table({"input_ids": column})))
    assert [item.tolist() for item in dataset] == [[3, 4], [5, 6], [1, 2], [5, 6]]
    assert dataset.sizes.tolist() == [2] * 4
