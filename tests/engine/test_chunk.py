"""Cutting streams of chunks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydata_ext.engine.chunk import Chunk, rebatched, split
from raydata_ext.errors import SchemaError


def chunks_of(sizes):
    chunks, start = [], 0
    for size in sizes:
        numbers = np.arange(start, start + size)
        chunks.append(Chunk(pa.record_batch({"n": pa.array(numbers)}), numbers))
        start += size
    return chunks


def place(origins):
    return f"rows {origins[0]} to {origins[-1]}"


def numbers_of(chunks):
    return [number for chunk in chunks for number in chunk.batch.column("n").to_pylist()]


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 12))
def test_batches_have_the_size_asked_for_and_only_the_last_is_shorter(sizes, rows):
    result = [chunk for chunk in rebatched(chunks_of(sizes), rows, place) if chunk.num_rows]
    assert numbers_of(result) == list(range(sum(sizes)))
    assert [number for chunk in result for number in chunk.origins] == list(range(sum(sizes)))
    assert all(chunk.num_rows == rows for chunk in result[:-1])
    assert all(0 < chunk.num_rows <= rows for chunk in result[-1:])


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 12))
def test_splitting_keeps_rows_and_order_and_joins_nothing(sizes, rows):
    result = list(split(chunks_of(sizes), rows))
    assert numbers_of(result) == list(range(sum(sizes)))
    assert all(chunk.num_rows <= rows for chunk in result)
    assert len(result) == sum(max(1, -(-size // rows)) for size in sizes)


def test_without_a_size_all_rows_become_one_batch():
    result = [chunk for chunk in rebatched(chunks_of([3, 0, 4]), None, place) if chunk.num_rows]
    assert [chunk.num_rows for chunk in result] == [7]


def test_a_chunk_of_the_right_size_passes_uncopied():
    chunks = chunks_of([4, 4])
    assert [result is chunk for result, chunk in zip(split(chunks, 4), chunks, strict=True)] == [True, True]
    addresses = [chunk.batch.column("n").buffers()[1].address for chunk in rebatched(chunks, 4, place)]
    assert addresses == [chunk.batch.column("n").buffers()[1].address for chunk in chunks]


def test_joined_chunks_have_the_union_of_their_columns():
    first = Chunk(pa.record_batch({"a": pa.array([1], pa.int32())}), np.array([0]))
    second = Chunk(pa.record_batch({"a": pa.array([2.5]), "b": pa.array(["x"])}), np.array([1]))
    (joined,) = rebatched([first, second], 2, place)
    assert joined.batch.to_pylist() == [{"a": 1.0, "b": None}, {"a": 2.5, "b": "x"}]


def test_chunks_that_cannot_be_joined_are_an_error_with_column_types_and_place():
    first = Chunk(pa.record_batch({"a": pa.array([1])}), np.array([0]))
    second = Chunk(pa.record_batch({"a": pa.array(["x"])}), np.array([1]))
    with pytest.raises(SchemaError, match=r"rows 0 to 1.*`a` is int64 in one place and string in another"):
        list(rebatched([first, second], 2, place))


def test_schema_metadata_outlives_joining():
    batch = pa.record_batch({"a": [1]}).replace_schema_metadata({"key": "value"})
    (joined,) = rebatched([Chunk(batch, np.array([0])), Chunk(batch, np.array([1]))], 2, place)
    assert joined.batch.schema.metadata == {b"key": b"value"}
