from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.formatting.large_offsets import enlarge_type, one_array


@pytest.mark.parametrize(
    ("kind", "large"),
    [
        (pa.string(), pa.large_string()),
        (pa.binary(), pa.large_binary()),
        (pa.list_(pa.string()), pa.large_list(pa.large_string())),
        (pa.struct([("a", pa.list_(pa.int8()))]), pa.struct([("a", pa.large_list(pa.int8()))])),
        (pa.list_(pa.string(), 2), pa.list_(pa.large_string(), 2)),
        (pa.int64(), pa.int64()),
    ],
)
def test_32_bit_offsets_become_64_bit_ones_at_any_depth(kind, large):
    assert enlarge_type(kind) == large


def test_one_chunk_is_not_copied():
    chunk = pa.array([1, 2, 3])

    assert one_array(chunk) is chunk
    assert one_array(pa.chunked_array([chunk])).buffers()[1].address == chunk.buffers()[1].address


@pytest.mark.parametrize(
    ("chunked", "expected"),
    [
        (pa.chunked_array([["a"], [], ["b", None]]), pa.array(["a", "b", None])),
        (pa.chunked_array([], pa.int8()), pa.array([], pa.int8())),
        (pa.chunked_array([[], []], pa.int8()), pa.array([], pa.int8())),
    ],
)
def test_chunks_are_joined_in_order(chunked, expected):
    assert one_array(chunked).equals(expected)


def test_chunks_with_different_dictionaries_are_joined_by_value():
    chunked = pa.chunked_array([pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", "b"]).dictionary_encode()])

    assert one_array(chunked).to_pylist() == ["a", "b", "c", "b"]


@pytest.mark.slow
def test_chunks_of_more_than_2_gb_become_one_large_array():
    chunk = pa.array(["x" * (1 << 20)] * 1100)

    joined = one_array(pa.chunked_array([chunk, chunk]))

    assert joined.type == pa.large_string()
    assert len(joined) == 2200
    assert joined[2199].as_py() == "x" * (1 << 20)
