"""numpy arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from raydata_ext.errors import FingerprintError
from raydata_ext.fingerprint import fingerprint, hash_value


def test_dtype_shape_and_content_count():
    base = np.arange(6, dtype=np.int64)
    others = [
        base.astype(np.int32),
        base.astype(">i8"),
        base.reshape(2, 3),
        base + 1,
        base.astype(float),
        base.tolist(),
    ]
    assert len({hash_value(value) for value in (base, *others)}) == 7
    assert hash_value(base) == hash_value(base.copy())


@given(hnp.arrays(hnp.array_dtypes() | hnp.scalar_dtypes(), hnp.array_shapes(max_dims=3, max_side=4)))
def test_the_layout_in_memory_has_no_part(array):
    assert hash_value(np.asfortranarray(array)) == hash_value(np.ascontiguousarray(array))
    if array.ndim:
        assert hash_value(array[::-1][::-1]) == hash_value(array)
        assert hash_value(np.repeat(array, 2, axis=0)[::2]) == hash_value(array)


def test_a_large_array_that_is_not_contiguous_counts_as_its_copy():
    array = np.arange(1_000_000, dtype=np.int32).reshape(1000, 1000)
    assert hash_value(array.T) == hash_value(np.ascontiguousarray(array.T)) != hash_value(array)
    assert hash_value(array[:, ::3]) == hash_value(array[:, ::3].copy())


@given(st.lists(st.one_of(st.text(), st.integers(), st.none()), min_size=1))
def test_an_array_of_objects_counts_element_by_element(items):
    array, same = np.empty(len(items), object), np.empty(len(items), object)
    array[:], same[:] = items, items
    assert hash_value(array) == hash_value(same)
    same[0] = "something else"
    assert hash_value(array) != hash_value(same)


def test_a_map_of_a_file_counts_as_the_array(tmp_path):
    array = np.arange(10)
    np.save(tmp_path / "a.npy", array)
    assert hash_value(np.load(tmp_path / "a.npy", mmap_mode="r")) == hash_value(array)


@pytest.mark.parametrize(
    ("value", "other"),
    [
        (np.array(["2020"], "M8[D]"), np.array(["2021"], "M8[D]")),
        (np.array(["2020"], "M8[D]"), np.array(["2020"], "M8[s]")),
        (np.array(["ab"]), np.array(["ac"])),
        (np.array([(1, "a")], [("x", int), ("y", "U1")]), np.array([(1, "b")], [("x", int), ("y", "U1")])),
        (np.array([(1, "a")], [("x", int), ("y", object)]), np.array([(1, "b")], [("x", int), ("y", object)])),
        (np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 2], mask=[1, 0])),
        (np.zeros((0, 3)), np.zeros((0, 4))),
        (np.array(1), np.array(2)),
        (np.float32(1), np.float64(1)),
        (np.datetime64("2020"), np.datetime64("2021")),
        (np.dtype("i4"), np.dtype("i8")),
        (np.array([(1,)], [("x", int)]).view(np.recarray), np.array([(1,)], [("x", int)])),
        (np.add, np.multiply),
        (np.vectorize(lambda x: x + 1), np.vectorize(lambda x: x + 2)),
    ],
)
def test_values_of_numpy_are_told_apart(value, other):
    assert hash_value(value) == hash_value(value) != hash_value(other)


def test_padding_of_records_has_no_part():
    dtype = np.dtype([("a", "i1"), ("b", "i8")], align=True)
    first, second = (np.frombuffer(bytes([fill]) * 16, np.uint8).copy().view(dtype) for fill in (0, 255))
    first["a"] = second["a"] = 1
    first["b"] = second["b"] = 2
    assert hash_value(first) == hash_value(second)


def test_a_masked_value_has_no_part():
    first, second = np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 3], mask=[0, 1])
    assert hash_value(first) == hash_value(second)


def test_a_vectorized_function_is_the_same_after_calls():
    function = np.vectorize(lambda x: x + 1, otypes=[int])
    before = hash_value(function)
    function([1, 2, 3])
    assert hash_value(function) == before


def test_a_universal_function_made_from_an_unknown_function_is_refused():
    with pytest.raises(FingerprintError, match=r"numpy\.ufunc"):
        fingerprint(np.frompyfunc(lambda x: x, 1, 1))
