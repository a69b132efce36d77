"""Values and samples of MDS."""

from __future__ import annotations

import decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydata_ext.dataset.mds_encoding import MdsColumn, encode_samples
from raydata_ext.errors import SchemaError


def encoded(values: pa.Array, encoding: str | None = None) -> tuple[str, list[bytes]]:
    column = MdsColumn.of(pa.field("x", values.type), encoding)
    pieces = [piece.to_pylist() for piece in column.encode(values, 0)]
    return column.encoding, [b"".join(parts) for parts in zip(*pieces, strict=True)]


@pytest.mark.parametrize(
    ("values", "encoding", "first"),
    [
        (pa.array(["é"]), "str", b"\xc3\xa9"),
        (pa.array([b"\0\xff"]), "bytes", b"\0\xff"),
        (pa.array([b"ab"], pa.binary(2)), "bytes", b"ab"),
        (pa.array([-2]), "int", (-2).to_bytes(8, "little", signed=True)),
        (pa.array([7], pa.int16()), "int16", b"\7\0"),
        (pa.array([200], pa.uint8()), "uint8", b"\xc8"),
        (pa.array([1.5], pa.float32()), "float32", np.float32(1.5).tobytes()),
        (pa.array([np.float16(1.5)]), "float16", np.float16(1.5).tobytes()),
        (pa.array([True]), "json", b"true"),
        (pa.array([decimal.Decimal("1.50")]), "str_decimal", b"1.50"),
        (pa.array([{"a": [1, None]}]), "json", b'{"a": [1, null]}'),
        (pa.array([["a"]]), "json", b'["a"]'),
        (pa.array(["b", "a"]).dictionary_encode(), "str", b"b"),
        (pa.array([[1, 2]], pa.list_(pa.uint16())), "ndarray:uint16", b"\4\2\1\0\2\0"),
        (pa.array([[1, 2]], pa.large_list(pa.int8())), "ndarray:int8", b"\4\2\1\2"),
        (pa.array([[1, 2]], pa.list_(pa.int8(), 2)), "ndarray:int8:2", b"\1\2"),
    ],
)
def test_each_type_has_its_encoding(values, encoding, first):
    found, data = encoded(values)
    assert (found, data[0]) == (encoding, first)


@pytest.mark.parametrize(
    ("values", "encoding", "first"),
    [
        (pa.array([5]), "int32", b"\5\0\0\0"),
        (pa.array([5]), "str_int", b"5"),
        (pa.array([0.5]), "str_float", b"0.5"),
        (pa.array([b"\xff\xd8"]), "jpeg", b"\xff\xd8"),
        (pa.array([[]], pa.list_(pa.int32())), "json", b"[]"),
        (pa.array([[5]], pa.list_(pa.int64())), "ndarray:uint16", b"\4\1\5\0"),
        (pa.array([None], pa.int32()), "json", b"null"),
    ],
)
def test_others_may_be_asked_for(values, encoding, first):
    assert encoded(values, encoding) == (encoding, [first])


@given(st.lists(st.integers(1, 700), min_size=1, max_size=6))
def test_an_array_is_its_shape_and_values(lengths):
    _, data = encoded(pa.array([[1] * length for length in lengths], pa.list_(pa.uint8())))
    for length, value in zip(lengths, data, strict=True):
        width = 1 if length < 256 else 2
        assert value == bytes([1 << 2 | (width - 1)]) + length.to_bytes(width, "little") + b"\1" * length


def test_a_sample_is_the_sizes_that_vary_and_all_values():
    batch = pa.record_batch({"id": pa.array([3], pa.uint8()), "a": ["xy"], "b": [b"z"]})
    columns = [MdsColumn.of(batch.schema.field(name)) for name in ("a", "b", "id")]
    assert encode_samples(columns, batch, 0).to_pylist() == [b"\2\0\0\0\1\0\0\0xyz\3"]
    assert encode_samples(columns[2:], batch, 0).to_pylist() == [b"\3"]


@pytest.mark.parametrize(
    ("values", "encoding", "message"),
    [
        (pa.array(["a", None]), None, "row 11: column 'x' is null, which MDS cannot hold as 'str'"),
        (pa.array([[1], []]), None, "row 11: column 'x' is an empty array, which MDS cannot hold as 'ndarray:int64'"),
        (pa.array([[1], [2, None]]), None, "row 11: column 'x' is null in an array"),
        (pa.array([1, 300]), "uint8", "rows 10 to 11: column 'x' has a value that cannot be 'uint8'"),
        (pa.array([{"a": b"x"}]), None, "cannot be 'json' .*bytes"),
        (pa.array([1, 2]), "str", "column 'x' is int64, which cannot be 'str'; choose one of"),
        (pa.array([1]), "pkl", "which cannot be 'pkl'"),
        (pa.array([1], pa.timestamp("us")), None, "which MDS has no encoding for"),
    ],
)
def test_what_cannot_be_encoded_is_an_error_that_names_it(values, encoding, message):
    batch = pa.record_batch({"x": values})
    with pytest.raises(SchemaError, match=message):
        encode_samples([MdsColumn.of(batch.schema.field("x"), encoding)], batch, 10)
