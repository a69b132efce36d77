from __future__ import annotations

import datetime as dt
from decimal import Decimal

import datasets
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.formatting import array_from_values, batch_from_columns, get_formatter
from raydata_ext.formatting.numpy_format import array_to_numpy, element


def same(left, right) -> bool:
    """Equal in type, dtype, shape and values, at any depth."""
    if type(left) is not type(right):
        return False
    if isinstance(left, np.ndarray):
        return (
            left.dtype == right.dtype
            and left.shape == right.shape
            and all(map(same, left.ravel().tolist(), right.ravel().tolist()))
        )
    return left == right


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2, 3]),
        pa.array([0.5, 1.5, 2.5], pa.float32()),
        pa.array([True, False, True]),
        pa.array(["a", None, "c"]),
        pa.array([[1, 2], [3, 4], [5, 6]]),
        pa.array([[1], [2, 3], []]),
        pa.array([[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[1, 1], [1, 1]]]),
        pa.array([[[1, 2], [3, 4]], [[5], [7, 8]], [[9, 9]]]),
        pa.array([[1], None, [2]]),
        pa.array([dt.date(2020, 1, 1)] * 3),
    ],
)
def test_batches_are_those_of_hugging_face(column):
    table = pa.table({"c": column})
    theirs = datasets.Dataset(table).with_format("numpy")

    assert same(get_formatter("numpy").batch(table)["c"], theirs[:]["c"])


@pytest.mark.parametrize(
    ("column", "theirs", "ours"),
    [
        (pa.array([1, 2], pa.int8()), "int64", np.array([1, 2], np.int8)),
        (pa.array([0.1, 0.2]), "float32", np.array([0.1, 0.2])),
        (pa.array(["a", "bc"]), "<U2", np.array(["a", "bc"], object)),
        (pa.array([b"a\0", b"bc"]), "|S2", np.array([b"a\0", b"bc"], object)),
        (pa.array([1, None]), "float32", np.ma.array([1, 0], mask=[False, True])),
    ],
)
def test_where_hugging_face_changes_values_or_wastes_memory_the_column_is_kept(column, theirs, ours):
    table = pa.table({"c": column})

    assert datasets.Dataset(table).with_format("numpy")[:]["c"].dtype == np.dtype(theirs)
    assert same(get_formatter("numpy").batch(table)["c"], ours)


def test_numbers_and_lists_of_one_length_are_views_of_the_arrow_memory():
    numbers = pa.array(np.arange(1000, dtype=np.int32))
    lists = pa.ListArray.from_arrays(np.arange(0, 1001, 10, dtype=np.int32), numbers)
    fixed = pa.FixedSizeListArray.from_arrays(numbers, 10)

    for array, shape in ((numbers, (990,)), (lists, (90, 10)), (fixed, (90, 10))):
        part = array.slice(10)
        view = array_to_numpy(part)
        start = numbers.buffers()[1].address + (40 if array is numbers else 400)
        assert view.shape == shape
        assert view.ctypes.data == start
        assert not view.flags.writeable


def test_ragged_lists_are_views_of_the_arrow_memory():
    array = pa.array([[1, 2], [3]], pa.list_(pa.int32()))

    rows = array_to_numpy(array)

    assert rows.dtype == object
    assert rows[1].ctypes.data == array.values.buffers()[1].address + 8


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint64(), pa.int64(), pa.bool_()])
def test_integers_and_bools_with_nulls_are_masked_and_keep_their_dtype(kind):
    array = pa.array([1, None, 0]).cast(kind)

    values = array_to_numpy(array)

    assert isinstance(values, np.ma.MaskedArray)
    assert values.dtype == kind.to_pandas_dtype()
    assert [element(values, row) for row in range(3)] == array.to_pylist()
    assert batch_from_columns({"c": values})["c"].equals(array)


def test_masks_reach_into_lists():
    values = array_to_numpy(pa.array([[1, None], [3, 4]]))

    assert values.shape == (2, 2)
    assert values.mask.tolist() == [[False, True], [False, False]]


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([1.5, None]), np.array([1.5, np.nan])),
        (pa.array(np.array([1.5], np.float16)), np.array([1.5], np.float16)),
        (pa.array([None, None]), np.array([None, None])),
        (pa.array([dt.timedelta(1), None]), np.array([86_400_000_000, "NaT"], "timedelta64[us]")),
        (pa.array([Decimal("1.5"), None]), np.array([Decimal("1.5"), None])),
        (pa.array(["a", "b", "a"]).dictionary_encode(), np.array(["a", "b", "a"], object)),
        (pa.array([[], []], pa.list_(pa.int8())), np.zeros((2, 0), np.int8)),
        (pa.array([], pa.int8()), np.zeros(0, np.int8)),
        (pa.array([["a", "b"], ["c", "d"]]), np.array([["a", "b"], ["c", "d"]], object)),
        (pa.array([[1, 2], [3, 4]], pa.large_list(pa.int8())), np.array([[1, 2], [3, 4]], np.int8)),
        (pa.chunked_array([[1], [2, 3]]), np.array([1, 2, 3])),
    ],
)
def test_each_arrow_type_has_its_numpy_form(array, expected):
    values = array_to_numpy(array)

    assert values.dtype == expected.dtype
    np.testing.assert_array_equal(values, expected)


types = st.recursive(
    st.sampled_from([pa.int8(), pa.int64(), pa.bool_(), pa.string()]),
    lambda inner: st.one_of(inner.map(pa.list_), inner.map(lambda kind: pa.struct([("a", kind), ("b", pa.int8())]))),
    max_leaves=3,
)


def values_of(kind: pa.DataType) -> st.SearchStrategy:
    if pa.types.is_list(kind):
        values = st.lists(values_of(kind.value_type), max_size=3)
    elif pa.types.is_struct(kind):
        values = st.fixed_dictionaries({field.name: values_of(field.type) for field in kind})
    elif pa.types.is_boolean(kind):
        values = st.booleans()
    else:
        values = st.sampled_from(["a", "bc", ""]) if pa.types.is_string(kind) else st.integers(-128, 127)
    return st.one_of(st.none(), values)


@settings(deadline=None)
@given(st.data())
def test_what_goes_out_as_numpy_comes_back_with_the_same_values(data):
    kind = data.draw(types)
    values = data.draw(st.lists(values_of(kind), max_size=5))

    back = array_from_values(array_to_numpy(pa.array(values, type=kind)), name="c")

    assert back.to_pylist() == values


def test_structs_are_dictionaries_of_numpy_values():
    rows = array_to_numpy(pa.array([{"n": 1, "v": [1, 2]}, None, {"n": None, "v": [3]}]))

    assert rows[1] is None
    assert rows[0]["n"] == 1
    assert isinstance(rows[0]["v"], np.ndarray)
    assert rows[2] == {"n": None, "v": np.array([3])}


def test_fixed_shape_tensors_are_arrays_of_that_shape():
    tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(np.arange(12).reshape(2, 2, 3))

    np.testing.assert_array_equal(array_to_numpy(tensors), np.arange(12).reshape(2, 2, 3))


def test_fixed_size_lists_with_nulls_are_object_arrays():
    rows = array_to_numpy(pa.array([[1, 2], None], pa.list_(pa.int8(), 2)))

    assert rows[0].tolist() == [1, 2]
    assert rows[1] is None


def test_maps_are_lists_of_pairs():
    assert array_to_numpy(pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int8())))[0] == [("k", 1)]


def test_a_row_holds_numpy_scalars_arrays_and_python_text():
    table = pa.table({"n": pa.array([1, None], pa.int8()), "s": ["x", None], "l": [[1, 2], None], "f": [0.5, None]})
    formatter = get_formatter("numpy")

    row = formatter.row(table, 0)

    assert type(row["n"]) is np.int8
    assert type(row["s"]) is str
    assert row["l"].tolist() == [1, 2]
    assert formatter.row(table, 1) == {"n": None, "s": None, "l": None, "f": None}


def test_a_dtype_applies_to_all_numbers_at_any_depth():
    table = pa.table({"n": [1], "s": ["x"], "l": [[1]], "r": [[[1], [2, 3]]], "d": [{"a": [1]}]})

    batch = get_formatter("numpy", dtype="float16").batch(table)

    assert batch["n"].dtype == batch["l"].dtype == np.float16
    assert batch["s"][0] == "x"
    assert batch["r"][0][1].dtype == np.float16
    assert batch["d"][0]["a"].dtype == np.float16


def test_times_of_nanoseconds_are_the_times_of_python():
    values = array_to_numpy(pa.array([1_000, 2, None], pa.time64("ns")))
    assert values.tolist() == [dt.time(0, 0, 0, 1), dt.time(0), None]


def test_tensors_keep_their_shape_beside_nulls():
    kind = pa.fixed_shape_tensor(pa.float32(), [2, 1])
    storage = pa.array([[1, 2], None, [3, 4]], pa.list_(pa.float32(), 2))
    values = array_to_numpy(pa.ExtensionArray.from_storage(kind, storage))

    assert [value if value is None else value.tolist() for value in values] == [[[1], [2]], None, [[3], [4]]]
    assert array_to_numpy(pa.ExtensionArray.from_storage(kind, storage[1:2])).tolist() == [None]
    assert array_to_numpy(pa.ExtensionArray.from_storage(kind, storage[2:])).shape == (1, 2, 1)
