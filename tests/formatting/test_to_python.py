from __future__ import annotations

import datetime as dt
import decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.formatting.to_python import array_to_list

leaf_types = st.sampled_from(
    [
        pa.int8(),
        pa.int64(),
        pa.uint64(),
        pa.float32(),
        pa.float64(),
        pa.bool_(),
        pa.string(),
        pa.large_binary(),
        pa.null(),
    ]
)
types = st.recursive(
    leaf_types,
    lambda inner: st.one_of(
        inner.map(pa.list_),
        inner.map(pa.large_list),
        inner.map(lambda kind: pa.list_(kind, 2)),
        st.lists(inner, max_size=3).map(lambda kinds: pa.struct([(f"f{i}", kind) for i, kind in enumerate(kinds)])),
    ),
    max_leaves=4,
)


def values_of(kind: pa.DataType) -> st.SearchStrategy:
    if pa.types.is_null(kind):
        return st.none()
    if pa.types.is_integer(kind):
        low = 0 if pa.types.is_unsigned_integer(kind) else -(2 ** (kind.bit_width - 1))
        values = st.integers(low, low + 2**kind.bit_width - 1)
    elif pa.types.is_floating(kind):
        values = st.floats(width=kind.bit_width, allow_nan=False)
    elif pa.types.is_boolean(kind):
        values = st.booleans()
    elif pa.types.is_string(kind):
        values = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
    elif pa.types.is_large_binary(kind):
        values = st.binary(max_size=5)
    elif pa.types.is_fixed_size_list(kind):
        values = st.lists(values_of(kind.value_type), min_size=2, max_size=2)
    elif pa.types.is_struct(kind):
        values = st.fixed_dictionaries({field.name: values_of(field.type) for field in kind})
    else:
        values = st.lists(values_of(kind.value_type), max_size=3)
    return st.one_of(st.none(), values)


@settings(deadline=None)
@given(st.data())
def test_any_array_gives_what_to_pylist_gives(data):
    kind = data.draw(types)
    array = pa.array(data.draw(st.lists(values_of(kind), max_size=8)), type=kind)
    start = data.draw(st.integers(0, len(array)))
    part = array.slice(start, data.draw(st.integers(0, len(array) - start)))

    assert array_to_list(part) == part.to_pylist()
    assert repr(array_to_list(part)) == repr(part.to_pylist()), "also the types of all values are the same"


@pytest.mark.parametrize(
    "array",
    [
        pa.array([dt.date(2020, 1, 2), None]),
        pa.array([dt.datetime(2020, 1, 2, tzinfo=dt.timezone.utc)]),
        pa.array([decimal.Decimal("1.50"), None]),
        pa.array([[("key", 1)], None], pa.map_(pa.string(), pa.int32())),
        pa.array(["a", "b", "a"]).dictionary_encode(),
        pa.array(np.array([1.5, 0], np.float16), mask=np.array([False, True])),
        pa.chunked_array([[1, 2], [], [3]]),
        pa.chunked_array([], pa.string()),
    ],
)
def test_rarer_types_and_chunks_give_what_to_pylist_gives(array):
    assert repr(array_to_list(array)) == repr(array.to_pylist())


def test_lists_of_two_rows_are_two_objects():
    array = pa.array([[1, 2], [1, 2]])

    first, second = array_to_list(array)
    first.append(3)

    assert second == [1, 2]
    assert array.to_pylist() == [[1, 2], [1, 2]]


def test_a_null_struct_is_none_and_not_a_struct_of_nulls():
    assert array_to_list(pa.array([{"a": 1}, None, {"a": None}])) == [{"a": 1}, None, {"a": None}]
