from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from raydata_ext.formatting.from_ndarrays import array_from_ndarray, array_from_ndarrays


@pytest.mark.parametrize(
    "dtype",
    ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "bool"],
)
def test_every_number_dtype_is_kept(dtype):
    values = np.array([0, 1, 2], dtype)

    array = array_from_ndarray(values)

    assert array.type == pa.from_numpy_dtype(values.dtype)
    assert array.to_pylist() == values.tolist()


def test_a_numeric_array_is_not_copied():
    values = np.arange(1000, dtype=np.int32)

    assert array_from_ndarray(values).buffers()[1].address == values.ctypes.data


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.arange(4, dtype=">i4"), pa.array([0, 1, 2, 3], pa.int32())),
        (np.arange(6)[::2], pa.array([0, 2, 4])),
        (np.array(["a", "bc"]), pa.array(["a", "bc"])),
        (np.array(["2020-01-01"], "datetime64[D]"), pa.array([18262], pa.int32()).cast(pa.date32())),
        (np.ma.array([1, 2], mask=[False, True]), pa.array([1, None])),
        (np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]]), pa.array([[1, None], [3, 4]])),
        (np.zeros((0, 3), np.int8), pa.array([], pa.list_(pa.int8()))),
        (np.zeros((2, 0), np.int8), pa.array([[], []], pa.list_(pa.int8()))),
        (np.arange(4, dtype=np.int8).reshape(2, 2).T, pa.array([[0, 2], [1, 3]], pa.list_(pa.int8()))),
    ],
)
def test_layouts_that_arrow_does_not_share_keep_their_values(values, expected):
    assert array_from_ndarray(values).equals(expected)


@settings(deadline=None)
@given(
    hnp.arrays(st.sampled_from([np.int32, np.float32, np.bool_]), hnp.array_shapes(min_dims=1, max_dims=4, min_side=0))
)
def test_any_array_reads_back_as_its_nested_lists(values):
    array = array_from_ndarray(values)
    array.validate(full=True)

    assert repr(array.to_pylist()) == repr(values.tolist())


@settings(deadline=None)
@given(
    st.integers(1, 3).flatmap(
        lambda rank: st.lists(
            st.one_of(
                st.none(), hnp.arrays(np.int16, hnp.array_shapes(min_dims=rank, max_dims=rank, min_side=0, max_side=4))
            ),
            min_size=1,
            max_size=5,
        ).filter(lambda arrays: any(array is not None for array in arrays))
    )
)
def test_any_list_of_arrays_reads_back_as_its_nested_lists(arrays):
    array = array_from_ndarrays(arrays)
    array.validate(full=True)

    assert array.to_pylist() == [None if values is None else values.tolist() for values in arrays]


def test_empty_arrays_alone_have_their_dtype_unless_it_is_the_default_one():
    assert array_from_ndarrays([np.array([], np.int8)]).type == pa.list_(pa.int8())
    assert array_from_ndarrays([np.array([]), None]).equals(pa.array([[], None]))


def test_an_empty_array_of_the_default_dtype_does_not_make_floats_of_integers():
    array = array_from_ndarrays([np.array([]), np.array([1, 2], np.int32)])

    assert array.equals(pa.array([[], [1, 2]], pa.list_(pa.int32())))


@pytest.mark.parametrize(
    "arrays",
    [
        [np.zeros(2, np.int32), np.zeros(2, np.float32)],
        [np.zeros(2), np.zeros((2, 2))],
        [np.array(1), np.array(2)],
        [np.array([{}], object)],
        [np.ma.array([1], mask=[True])],
        [None],
    ],
)
def test_arrays_that_do_not_go_together_are_left_to_inference(arrays):
    assert array_from_ndarrays(arrays) is None


def test_beyond_the_largest_offset_lists_become_large_lists():
    arrays = [np.arange(3, dtype=np.int8), np.arange(2, dtype=np.int8)]

    assert array_from_ndarrays(arrays, max_offset=5).type == pa.list_(pa.int8())
    assert array_from_ndarrays(arrays, max_offset=4).type == pa.large_list(pa.int8())
    assert array_from_ndarrays(arrays, max_offset=4).to_pylist() == [[0, 1, 2], [0, 1]]
    assert array_from_ndarray(np.zeros((2, 3, 4), np.int8), max_offset=10).type == pa.list_(pa.large_list(pa.int8()))
