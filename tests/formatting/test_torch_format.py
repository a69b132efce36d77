from __future__ import annotations

import datetime as dt

import datasets
import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.formatting import get_formatter

torch = pytest.importorskip("torch")


def same(left, right) -> bool:
    """Equal in type, dtype, shape and values, at any depth."""
    if type(left) is not type(right):
        return False
    if isinstance(left, torch.Tensor):
        return left.dtype == right.dtype and left.shape == right.shape and bool(torch.eq(left, right).all())
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(map(same, left.values(), right.values()))
    return left == right


COLUMNS = {
    "int64": pa.array([1, 2, 3]),
    "int32": pa.array([1, 2, 3], pa.int32()),
    "uint16": pa.array([1, 2, 3], pa.uint16()),
    "float64": pa.array([0.1, 0.2, 0.3]),
    "float16": pa.array([0.5, 1.5, 2.5], pa.float16()),
    "bool": pa.array([True, False, True]),
    "text": pa.array(["a", "bb", None]),
    "lists": pa.array([[1, 2], [3, 4], [5, 6]]),
    "ragged": pa.array([[1], [2, 3], [4]]),
    "ragged with null": pa.array([[1], None, [2]]),
    "matrices": pa.array([[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[1, 1], [1, 1]]]),
    "ragged matrices": pa.array([[[1, 2], [3, 4]], [[5], [7, 8]], [[9, 9]]]),
    "lists of text": pa.array([["a", "b"], ["c"], []]),
    "structs": pa.array([{"x": 1, "y": "a"}, {"x": 2, "y": "b"}, {"x": 3, "y": "c"}]),
    "lists of structs": pa.array([[{"x": 1}], [{"x": 2}, {"x": 3}], []]),
    "bools with nulls": pa.array([True, None, False]),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS.keys())
def test_batches_and_rows_are_those_of_hugging_face(column):
    table = pa.table({"c": column})
    theirs, ours = datasets.Dataset(table).with_format("torch"), get_formatter("torch")

    assert same(ours.batch(table)["c"], theirs[:]["c"])
    assert same(ours.row(table.to_batches()[0], 0)["c"], theirs[0]["c"])


def test_integers_with_nulls_stay_integers_where_hugging_face_makes_floats():
    table = pa.table({"c": [2**53 + 1, None], "l": [[1, None], [2, 3]]})

    batch = get_formatter("torch").batch(table)

    assert same(batch["c"], [torch.tensor(2**53 + 1), None])
    assert same(batch["l"], [[torch.tensor(1), None], torch.tensor([2, 3])])
    assert get_formatter("torch").row(table, 1)["c"] is None
    assert datasets.Dataset(table).with_format("torch")[:]["c"].dtype == torch.float32


def test_floats_with_nulls_are_nan():
    assert get_formatter("torch").column(pa.array([0.5, None])).isnan().tolist() == [False, True]


def test_bytes_keep_their_trailing_zeros_where_hugging_face_drops_them():
    table = pa.table({"c": [b"a\0"]})

    assert get_formatter("torch").batch(table)["c"] == [b"a\0"]
    assert datasets.Dataset(table).with_format("torch")[:]["c"] == [b"a"]


def test_times_are_python_times_where_hugging_face_fails():
    noon = dt.datetime(2020, 1, 1, 12)  # noqa: DTZ001  # times without zone are the case
    formatter = get_formatter("torch")

    assert formatter.column(pa.array([noon, None])) == [noon, None]
    assert formatter.column(pa.array([noon], pa.timestamp("ns"))) == [noon]
    assert formatter.column(pa.array([noon.date()])) == [noon.date()]


def test_writing_into_a_tensor_leaves_the_data_alone(tmp_path):
    table = pa.table({"i": pa.array([1, 2]), "f": pa.array([0.5, 1.5], pa.float32()), "l": [[1, 2], [3, 4]]})
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    mapped = pa.ipc.open_stream(pa.memory_map(str(tmp_path / "t.arrow"))).read_all()

    batch = get_formatter("torch").batch(mapped)
    for tensor in batch.values():
        tensor.zero_()

    assert mapped.equals(table)


def test_a_dtype_and_a_device_apply_to_all_numbers():
    table = pa.table({"n": [1], "f": [0.1], "l": [[1]], "s": ["x"]})

    batch = get_formatter("torch", dtype=torch.float64, device="meta").batch(table)

    assert {batch[name].dtype for name in "nfl"} == {torch.float64}
    assert {batch[name].device.type for name in "nfl"} == {"meta"}
    assert batch["s"] == ["x"]


def test_numbers_beyond_int64_are_an_error_that_says_what_to_ask_for():
    array = pa.array([2**63], pa.uint64())

    with pytest.raises(OverflowError, match=r"ask for dtype=torch\.uint64"):
        get_formatter("torch").column(array)
    assert get_formatter("torch", dtype=torch.uint64).column(array).numpy().tolist() == [2**63]
    assert get_formatter("torch").column(pa.array([1], pa.uint64())).dtype == torch.int64


def test_no_rows_are_an_empty_tensor():
    assert get_formatter("torch").column(pa.array([], pa.int32())).shape == (0,)
    assert np.asarray(get_formatter("torch").column(pa.array([], pa.int32()))).dtype == np.int64
