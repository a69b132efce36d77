from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

from raydata_ext.formatting.type_hints import fit_hint, narrow_tokens, needs_direct_conversion


@pytest.mark.parametrize(
    ("values", "hint"),
    [
        ([1, None], pa.int8()),
        ([1], pa.uint64()),
        ([0.5, None], pa.float32()),
        ([1.5], pa.float16()),
        (["a"], pa.large_string()),
        (["a", "b", "a"], pa.dictionary(pa.int32(), pa.string())),
        ([b"ab"], pa.large_binary()),
        ([b"ab"], pa.binary(2)),
        ([[1, 2], []], pa.list_(pa.int16())),
        ([[1, 2]], pa.large_list(pa.int16())),
        ([[1, 2], None], pa.list_(pa.int8(), 2)),
        ([[[1]], []], pa.list_(pa.list_(pa.int8()))),
        ([{"b": 1, "a": "x"}], pa.struct([("a", pa.string()), ("b", pa.int8())])),
        ([None, None], pa.string()),
        ([], pa.int32()),
        ([[], []], pa.list_(pa.int32())),
        ([dt.datetime(2020, 1, 1)], pa.timestamp("s")),  # noqa: DTZ001  # times without zone are the case
        ([dt.datetime(2020, 1, 1, tzinfo=dt.timezone.utc)], pa.timestamp("ms", "UTC")),
        ([dt.date(2020, 1, 1)], pa.date64()),
        ([Decimal("1.5")], pa.decimal128(10, 4)),
        ([dt.timedelta(seconds=1)], pa.duration("s")),
    ],
)
def test_a_former_type_of_the_same_kind_is_taken_where_each_value_fits(values, hint):
    fitted = fit_hint(pa.array(values), hint)

    assert fitted.type == hint
    assert fitted.to_pylist() == pa.array(values).to_pylist()


@pytest.mark.parametrize(
    ("values", "hint", "fitted"),
    [
        (
            [{"new": 1, "b": "x", "a": 2}],
            pa.struct([("a", pa.int8()), ("gone", pa.int8()), ("b", pa.large_string())]),
            pa.struct([("a", pa.int8()), ("b", pa.large_string()), ("new", pa.int64())]),
        ),
        (
            [{"a": 1.5, "b": 1}],
            pa.struct([("a", pa.int8()), ("b", pa.int8())]),
            pa.struct([("a", pa.float64()), ("b", pa.int8())]),
        ),
        (
            [[{"a": 1, "new": 2}], None],
            pa.large_list(pa.struct([("a", pa.int8())])),
            pa.list_(pa.struct([("a", pa.int8()), ("new", pa.int64())])),
        ),
    ],
)
def test_fields_that_a_struct_had_keep_type_and_place_beside_others(values, hint, fitted):
    assert fit_hint(pa.array(values), hint).type == fitted
    assert fit_hint(pa.array(values), hint).to_pylist() == values


def test_nan_is_a_value_like_any_other():
    fitted = fit_hint(pa.array([0.5, float("nan"), None]), pa.float32())

    assert fitted.type == pa.float32()
    assert str(fitted.to_pylist()) == "[0.5, nan, None]"


@pytest.mark.parametrize(
    ("values", "hint"),
    [
        (["3"], pa.int64()),
        ([3], pa.string()),
        ([3.0], pa.int64()),
        ([3], pa.float64()),
        ([True], pa.int64()),
        ([1], pa.bool_()),
        ([300], pa.int8()),
        ([-1], pa.uint8()),
        ([0.1], pa.float32()),
        ([1e9], pa.float16()),
        ([[0.1]], pa.list_(pa.float32())),
        ([{"a": 0.1}], pa.struct([("a", pa.float32())])),
        ([[1, 2, 3]], pa.list_(pa.int8(), 2)),
        ([[1]], pa.int64()),
        (["a"], pa.binary()),
        ([b"a"], pa.string()),
        ([b"abc"], pa.binary(2)),
        ([{"a": 1}], pa.struct([("b", pa.int64())])),
        ([Decimal("1.55")], pa.decimal128(10, 1)),
        ([dt.datetime(2020, 1, 1, microsecond=5)], pa.timestamp("s")),  # noqa: DTZ001  # as above
        ([dt.datetime(2020, 1, 1)], pa.timestamp("us", "UTC")),  # noqa: DTZ001  # as above
        ([dt.date(2020, 1, 1)], pa.timestamp("s")),
    ],
)
def test_a_value_that_would_change_keeps_the_inferred_type(values, hint):
    array = pa.array(values)

    assert fit_hint(array, hint) is array


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("input_ids", [[1, 2], None], pa.list_(pa.int32())),
        ("input_ids", [1, 2], pa.int32()),
        ("input_ids", [[2**31]], pa.list_(pa.int64())),
        ("attention_mask", [[[1, 0]]], pa.list_(pa.list_(pa.int8()))),
        ("token_type_ids", [[200]], pa.list_(pa.int64())),
        ("special_tokens_mask", [[1]], pa.list_(pa.int8())),
        ("labels", [[1]], pa.list_(pa.int64())),
        ("input_ids", ["text"], pa.string()),
        ("input_ids", [[0.5]], pa.list_(pa.float64())),
    ],
)
def test_token_columns_take_their_small_types_where_all_values_fit(name, values, expected):
    array = narrow_tokens(pa.array(values), name)

    assert array.type == expected
    assert array.to_pylist() == values


def test_maps_and_extension_types_at_any_depth_need_their_type_from_the_start():
    assert needs_direct_conversion(pa.map_(pa.string(), pa.int8()))
    assert needs_direct_conversion(pa.list_(pa.struct([("m", pa.map_(pa.string(), pa.int8()))])))
    assert needs_direct_conversion(pa.fixed_shape_tensor(pa.int8(), [2]))
    assert not needs_direct_conversion(pa.list_(pa.struct([("n", pa.int8())])))
    assert not needs_direct_conversion(pa.dictionary(pa.int8(), pa.string()))
