from __future__ import annotations

import datetime as dt
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.errors import SchemaError
from raydata_ext.formatting import array_from_values

INT64_LISTS = pa.list_(pa.int64())
UTC_TIMES = pa.timestamp("us", "UTC")
BERLIN = ZoneInfo("Europe/Berlin")
DAY, TIME = dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 5)  # noqa: DTZ001 - times without a zone are the case


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, None], pa.int64()),
        ((1, 2), pa.int64()),
        (range(3), pa.int64()),
        ([1, 2.5], pa.float64()),
        ([2**63], pa.uint64()),
        ([[2**63], [1, None], None], pa.list_(pa.uint64())),
        ([{"a": [2**64 - 1]}], pa.struct([("a", pa.list_(pa.uint64()))])),
        ([pa.scalar([1]), pa.scalar(None, INT64_LISTS)], INT64_LISTS),
        ([pa.array([1]), None], INT64_LISTS),
        ([dt.date(2020, 1, 1), pd.NaT], pa.date32()),
        ([dt.datetime(2020, 1, 1, tzinfo=BERLIN), dt.datetime(2020, 1, 1, tzinfo=dt.timezone.utc)], UTC_TIMES),
        ([[dt.datetime(2020, 1, 1, tzinfo=zone)] for zone in (BERLIN, dt.timezone.utc)], pa.list_(UTC_TIMES)),
        ([dt.datetime(2020, 1, 1, tzinfo=BERLIN), None, pd.NaT], pa.timestamp("us", "Europe/Berlin")),
        (pd.Series([dt.date(2020, 1, 1), float("nan")], dtype=object), pa.date32()),
        (pd.Series([np.array([1], np.int8), None], dtype=object), pa.list_(pa.int8())),
        (["a", None], pa.string()),
        ([b"a", bytearray(b"b")], pa.binary()),
        ([None, None], pa.null()),
        ([], pa.null()),
        ([[], []], pa.list_(pa.null())),
        ([[1], [2.5], None], pa.list_(pa.float64())),
        ([(1, 2)], INT64_LISTS),
        ([{"a": 1}, {"b": [None, "x"]}], pa.struct([("a", pa.int64()), ("b", pa.list_(pa.string()))])),
        ([{}], pa.struct([])),
        ([dt.datetime(2020, 1, 1)], pa.timestamp("us")),  # noqa: DTZ001  # times without zone are the case
        ([dt.date(2020, 1, 1)], pa.date32()),
        ([dt.timedelta(1)], pa.duration("us")),
        ([Decimal("1.23"), Decimal(100)], pa.decimal128(5, 2)),
        ([np.int8(1), None], pa.int8()),
        ([np.float16(1)], pa.float16()),
        ([np.bool_(True)], pa.bool_()),  # numpy's own constructor
        ([np.datetime64("2020-01-01")], pa.date32()),
        ([pd.NA, 1], pa.int64()),
        ([pd.NaT, pd.Timestamp("2020-01-01")], pa.timestamp("us")),
        ([np.array([1], np.int32), None], pa.list_(pa.int32())),
        ([np.zeros((2, 2), np.int8)], pa.list_(pa.list_(pa.int8()))),
        ([{"a": np.zeros((2, 2), np.int8), "b": np.int8(1)}], None),
        ([np.array([1]), [2]], INT64_LISTS),
        ([[np.array([1])]], pa.list_(INT64_LISTS)),
        (np.array([1, None, 2], object), pa.int64()),
        (np.array(["a", "b"]), pa.string()),
        (np.zeros((2, 3), np.uint8), pa.list_(pa.uint8())),
        (pd.Series([1, None], dtype="Int32"), pa.int32()),
        (pd.Series(["a", None]), pa.string()),
        (pd.Series([1.5, None]), pa.float64()),
        (pa.array([1], pa.int8()), pa.int8()),
        (pa.chunked_array([["a"], ["b"]]), pa.string()),
    ],
)
def test_what_functions_return_gets_the_type_one_expects(values, expected):
    array = array_from_values(values, name="x")
    array.validate(full=True)

    assert len(array) == len(values)
    if expected is not None:
        assert array.type == expected


def test_values_inside_structs_keep_their_numbers():
    array = array_from_values([{"a": np.zeros((2, 2), np.int8), "b": np.int8(1)}], name="x")

    assert array.to_pylist() == [{"a": [[0, 0], [0, 0]], "b": 1}]


@settings(deadline=None)
@given(
    st.one_of(
        st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1))),
        st.lists(st.one_of(st.none(), st.floats(allow_nan=False))),
        st.lists(st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"])))),
        st.lists(st.one_of(st.none(), st.lists(st.one_of(st.none(), st.integers(0, 9))))),
        st.lists(st.builds(lambda a, b: {"a": a, "b": b}, st.binary(), st.lists(st.booleans()))),
    )
)
def test_python_values_read_back_as_they_were_with_their_types(values):
    assert repr(array_from_values(values, name="x").to_pylist()) == repr(values)


@pytest.mark.parametrize(
    ("values", "row", "shown"),
    [
        ([1, 2, "three", 4], 2, "'three' (str)"),
        (["a", None, 1], 2, "1 (int)"),
        ([True, 1], 1, "1 (int)"),
        ([b"a", "b"], 1, "'b' (str)"),
        ([1, object()], 1, "<object object"),
        (["ok", "\ud800"], 1, "'\\ud800' (str)"),
        ([{"a": 1}, {"a": "x"}], 1, "{'a': 'x'} (dict)"),
        ([1, 2**64], 1, "18446744073709551616 (int)"),
        ([0.5, 2**53 + 1], 1, "9007199254740993 (int)"),
        ([[1], 2], 1, "2 (int)"),
        (["a"] * 5000 + [1] + ["b"] * 5000, 5000, "1 (int)"),
        (np.array([1, "a"], object), 1, "'a' (str)"),
        (pd.Series([1, "a"], dtype=object), 1, "'a' (str)"),
        (pd.Series(["a", None, 1], dtype=object), 2, "1 (int)"),
        ([DAY, 3], 1, "3 (int)"),
        ([DAY, TIME], 1, "datetime.datetime(2020"),
        ([DAY, 1.5], 1, "1.5 (float)"),
        ([TIME, np.int64(3)], 1, "np.int64(3)"),
        ([TIME, TIME.replace(tzinfo=BERLIN)], 1, "datetime.datetime(2020"),
        ([TIME.time(), True], 1, "True (bool)"),
        ([dt.timedelta(1), Decimal(1)], 1, "Decimal('1')"),
        ([[DAY], [None, 3]], 1, "[None, 3] (list)"),
        ([{"a": [TIME]}, None, {"a": [7]}], 2, "{'a': [7]} (dict)"),
        ([["x"], ["y", b"\xff"]], 1, "['y', b'\\xff'] (list)"),
        ([[b"x"], ["y"]], 1, "['y'] (list)"),
        ([[("key", b"\xff")]], 0, "[('key', b'\\xff')] (list)"),
        (pd.Series([DAY, 3], dtype=object), 1, "3 (int)"),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_column_and_row(values, row, shown):
    with pytest.raises(SchemaError) as caught:
        array_from_values(values, name="score")

    assert f"column 'score', row {row}: {shown}" in str(caught.value)


def test_a_long_value_is_shortened_in_the_message():
    with pytest.raises(SchemaError) as caught:
        array_from_values([1, "x" * 10_000], name="score")

    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("value", ["text", 5, None, {"a": 1}, b"bytes", np.array(3), (n for n in range(3))])
def test_what_is_no_column_is_a_type_error_that_names_the_column(value):
    with pytest.raises(TypeError, match="column 'score': a column must be a list"):
        array_from_values(value, name="score")


def test_a_type_that_was_chosen_is_kept_and_python_values_take_the_former_one():
    assert array_from_values([1], name="n", hint=pa.int8()).type == pa.int8()
    assert array_from_values(np.array([1], np.int64), name="n", hint=pa.int8()).type == pa.int64()
    assert array_from_values(pa.array([1]), name="n", hint=pa.int8()).type == pa.int64()
    assert array_from_values(["3"], name="n", hint=pa.int8()).type == pa.string()


def test_maps_and_tensors_survive_a_round_through_python():
    kind = pa.map_(pa.string(), pa.int32())
    assert array_from_values([[("key", 1)], None], name="m", hint=kind).type == kind
    assert array_from_values(["no map"], name="m", hint=kind).type == pa.string()


@pytest.mark.parametrize(
    ("values", "hint"),
    [
        ([[("a", float("nan")), ("b", None)], None], pa.map_(pa.string(), pa.float32())),
        ([[("a", {"x": 1})]], pa.map_(pa.string(), pa.struct([("x", pa.int8()), ("y", pa.int8())]))),
        ([[("a", np.array([1.5, 2.5]))]], pa.map_(pa.string(), pa.list_(pa.float64()))),
        ([[2**64 - 1], []], pa.large_list(pa.uint64())),
        ([{"a": 2**64 - 1, "b": -1}], pa.struct([("a", pa.uint64()), ("b", pa.int64())])),
        ([[1], None], pa.list_view(pa.int16())),
        ([None, []], pa.large_list_view(pa.string())),
        (np.array([[1, 2]], np.int16), pa.list_(pa.int16(), 2)),
        ([np.array([1.5]), None], pa.large_list(pa.float64())),
    ],
)
def test_a_former_type_takes_its_own_values_again(values, hint):
    assert array_from_values(values, name="x", hint=hint).type == hint


def test_values_that_a_former_type_would_change_are_still_refused():
    with pytest.raises(SchemaError, match="column 'x', row 1: 2305843009213693952"):
        array_from_values([dt.timedelta(1), 2**61], name="x", hint=pa.duration("s"))


def test_lists_of_numpy_numbers_of_another_type_keep_that():
    assert array_from_values(np.array([[1]], np.int32), name="x", hint=pa.large_list(pa.int8())).type == pa.list_(
        pa.int32()
    )


def test_token_columns_are_small_whatever_they_come_as():
    for values in ([[1, 2]], [np.array([1, 2])], np.array([[1, 2]])):
        assert array_from_values(values, name="input_ids").type == pa.list_(pa.int32())
        assert array_from_values(values, name="attention_mask").type == pa.list_(pa.int8())
    assert array_from_values([[1, 2]], name="input_ids", hint=INT64_LISTS).type == INT64_LISTS


def test_torch_tensors_are_columns_and_rows():
    torch = pytest.importorskip("torch")

    assert array_from_values(torch.arange(3), name="x").equals(pa.array([0, 1, 2]))
    assert array_from_values(torch.zeros(2, 2, dtype=torch.int8), name="x").type == pa.list_(pa.int8())
    assert array_from_values([torch.tensor([1]), None], name="x").to_pylist() == [[1], None]
    assert array_from_values([torch.tensor(1), torch.tensor(2)], name="x").to_pylist() == [1, 2]
    assert array_from_values([{"t": torch.tensor([1])}], name="x").to_pylist() == [{"t": [1]}]
    assert array_from_values(torch.ones(2, dtype=torch.bfloat16), name="x").type == pa.float32()


@pytest.mark.slow
@pytest.mark.parametrize("wrap", [lambda text: text, lambda text: [text], lambda text: {"t": text}])
def test_more_than_2_gb_of_text_in_one_column_takes_the_large_types(wrap):
    text = "x" * (1 << 20)

    array = array_from_values([wrap(text)] * 2100, name="text")

    assert len(array) == 2100
    assert "large_string" in str(array.type)
    assert array[2099].as_py() == wrap(text)
