from __future__ import annotations

import collections

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from raydata_ext.formatting.plain_values import is_tensor, plain_value, tensor_to_numpy


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int8(3), 3),
        (np.array(3), 3),
        (np.zeros((1, 2)), [[0.0, 0.0]]),
        (np.array([{"a": np.int8(1)}, None], object), [{"a": 1}, None]),
        (np.ma.array([1, 2], mask=[False, True]), [1, None]),
        ({"a": [np.float32(0.5), (np.int8(1),)]}, {"a": [0.5, [1]]}),
        (collections.OrderedDict(a=np.int8(1)), {"a": 1}),
        (range(3), [0, 1, 2]),
        (pd.NA, None),
        (pd.NaT, None),
        ([pd.Series([1, 2])], [[1, 2]]),
        ("text", "text"),
        (b"bytes", b"bytes"),
        (None, None),
    ],
)
def test_foreign_values_become_plain_ones_at_any_depth(value, expected):
    assert repr(plain_value(value)) == repr(expected)


def test_numpy_times_keep_their_unit():
    assert plain_value(np.datetime64("2020-01-01", "ns")).type == pa.timestamp("ns")
    assert plain_value([np.datetime64("2020-01-01", "D")])[0].type == pa.date32()
    assert plain_value(np.array([1], "timedelta64[ns]"))[0].type == pa.duration("ns")


def test_tensors_are_told_and_converted_without_copy():
    torch = pytest.importorskip("torch")
    tensor = torch.arange(3)

    assert is_tensor(tensor)
    assert not is_tensor(np.arange(3))
    assert tensor_to_numpy(tensor).ctypes.data == tensor.data_ptr()
    assert tensor_to_numpy(torch.ones(2, dtype=torch.bfloat16)).dtype == np.float32
    assert tensor_to_numpy(torch.ones(2, requires_grad=True)).tolist() == [1.0, 1.0]
    assert plain_value({"a": [torch.tensor(1), torch.tensor([2])]}) == {"a": [1, [2]]}
