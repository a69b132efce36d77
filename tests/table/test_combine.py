"""Joining chunks never overflows offsets: what does not fit stays in several chunks."""

from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.table import InMemoryTable, combine_chunks

MANY = [
    pa.array(["x" * 40] * 5),
    pa.array([b"x" * 40] * 5),
    pa.array([[1] * 40] * 5, pa.list_(pa.int8())),
    pa.array([[True] * 40] * 5),
    pa.array([[None] * 40] * 5, pa.list_(pa.null())),
    pa.array([[["x" * 20] * 2]] * 5),
    pa.array([["x" * 40]] * 5, pa.large_list(pa.string())),
    pa.array([["x" * 20] * 2] * 5, pa.list_(pa.string(), 2)),
    pa.array([{"a": {"b": "x" * 40}}] * 5),
    pa.array([[("k", "x" * 40)]] * 5, pa.map_(pa.string(), pa.string())),
    pa.array([["x" * 40]] * 5, pa.list_view(pa.string())),
    pa.ExtensionArray.from_storage(pa.json_(pa.string()), pa.array(['"' + "x" * 38 + '"'] * 5)),
]


@pytest.mark.parametrize("chunk", MANY, ids=lambda chunk: str(chunk.type))
def test_chunks_are_joined_as_far_as_32_bit_offsets_can_count(chunk):
    table = pa.table({"c": pa.chunked_array([chunk] * 6)})
    assert combine_chunks(table).column("c").num_chunks == 1
    combined = combine_chunks(table, max_offset=500)
    assert combined.equals(table)
    assert combined.schema == table.schema
    assert [len(part) for part in combined.column("c").chunks] == [10, 10, 10]


def test_slices_count_with_the_rows_they_show():
    column = pa.chunked_array([pa.array(["x" * 1000, "y", "z"]).slice(1)] * 4)
    assert combine_chunks(pa.table({"c": column}), max_offset=100).column("c").num_chunks == 1


def test_columns_without_32_bit_offsets_are_always_joined():
    column = pa.chunked_array([pa.array(["x" * 40] * 5, pa.large_string())] * 6)
    table = pa.table({"c": column, "n": pa.chunked_array([list(range(5))] * 6)})
    combined = combine_chunks(table, max_offset=10)
    assert [combined.column(i).num_chunks for i in range(2)] == [1, 1]


def test_one_chunk_no_chunk_and_no_columns_stay_as_they_are():
    table = pa.table({"one": pa.chunked_array([["a" * 99]])})
    assert combine_chunks(table, max_offset=10).column(0).num_chunks == 1
    assert combine_chunks(table.select([])).num_rows == 1
    none = pa.table({"none": pa.chunked_array([], pa.string())})
    assert InMemoryTable(none).combine_chunks().schema == none.schema


def test_dictionaries_are_unified_or_left_apart_where_their_indices_cannot_count_all_values():
    def words(start, stop):
        return (
            pa.array([f"w{i}" for i in range(start, stop)])
            .dictionary_encode()
            .cast(pa.dictionary(pa.int8(), pa.string()))
        )

    few = pa.table({"c": pa.chunked_array([words(0, 50), words(25, 75)])})
    assert combine_chunks(few).column("c").num_chunks == 1
    many = pa.table({"c": pa.chunked_array([words(0, 100), words(100, 200)])})
    assert combine_chunks(many).column("c").num_chunks == 2
    assert combine_chunks(many).equals(many)


@pytest.mark.slow
def test_more_than_two_gigabytes_of_strings_are_gathered_and_combined_without_overflow():
    text = "x" * (1 << 20)
    table = pa.table({"s": pa.chunked_array([[text] * 100] * 21), "n": pa.chunked_array([list(range(100))] * 21)})
    in_memory = InMemoryTable(table)
    combined = in_memory.combine_chunks()
    assert combined.column("s").num_chunks == 2
    assert combined.schema == table.schema
    gathered = in_memory.fast_gather(range(2099, -1, -1))
    assert gathered.schema == table.schema
    assert gathered.num_rows == 2100
    assert gathered.column("s").num_chunks == 2
    assert gathered.column("n").to_pylist() == table.column("n").to_pylist()[::-1]
    assert gathered.column("s")[2099].as_py() == text
