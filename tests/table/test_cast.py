from __future__ import annotations

import decimal
from datetime import date, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.errors import SchemaError
from raydata_ext.table.cast import cast_array, cast_batch, cast_table

INT, TEXT = pa.int64(), pa.string()


def check_cast(array, target, expected):
    """Cast an array, whole and in slices, and compare with the values expected."""
    for start, stop in ((0, len(array)), (1, len(array)), (1, len(array) - 1), (2, 2)):
        cast = cast_array(array.slice(start, max(stop - start, 0)), target)
        cast.validate(full=True)
        assert cast.type.equals(target, check_metadata=True)
        assert cast.to_pylist() == expected[start : max(start, stop)]


@pytest.mark.parametrize(
    ("array", "target", "expected"),
    [
        (pa.array([1, None, 3]), pa.float64(), [1.0, None, 3.0]),
        (pa.array([1, None, 3]), pa.int8(), [1, None, 3]),
        (pa.array(["a", None, "bc"]), pa.large_string(), ["a", None, "bc"]),
        (pa.array(["a", None, "bc"], pa.large_string()), TEXT, ["a", None, "bc"]),
        (pa.array(["a", None, "bc"]), pa.string_view(), ["a", None, "bc"]),
        (pa.array([1, None, 3]), TEXT, ["1", None, "3"]),
        (pa.nulls(3), pa.struct({"a": INT}), [None] * 3),
        (pa.nulls(3), pa.list_(INT, 2), [None] * 3),
        (pa.nulls(3), pa.dictionary(pa.int8(), TEXT), [None] * 3),
        (pa.nulls(3), pa.json_(), [None] * 3),
        (pa.array([None] * 3, INT), pa.list_(TEXT), [None] * 3),
        (pa.array([None] * 3, INT), pa.null(), [None] * 3),
        (pa.array([None] * 3, pa.list_(INT)), pa.struct({"a": INT}), [None] * 3),
        (pa.array([[1, 2], None, []]), pa.large_list(pa.float64()), [[1.0, 2.0], None, []]),
        (pa.array([[1, 2], None, []], pa.large_list(INT)), pa.list_(INT), [[1, 2], None, []]),
        (pa.array([[1, 2], None, [3, 4]]), pa.list_(INT, 2), [[1, 2], None, [3, 4]]),
        (pa.array([[1, 2], None, [3, 4]], pa.list_(INT, 2)), pa.list_(pa.int8()), [[1, 2], None, [3, 4]]),
        (pa.array([[1, 2], None, [3, 4]], pa.list_(INT, 2)), pa.list_(pa.int8(), 2), [[1, 2], None, [3, 4]]),
        (pa.array([[], None, []], pa.list_(INT)), pa.list_(INT, 0), [[], None, []]),
        (pa.array([[1, 2], None, []]), pa.list_view(INT), [[1, 2], None, []]),
        (pa.array([[1, 2], None, []], pa.list_view(INT)), pa.large_list_view(INT), [[1, 2], None, []]),
        (pa.array([[1, 2], None, []], pa.large_list_view(INT)), pa.list_(INT), [[1, 2], None, []]),
        (
            pa.array([[("k", 1)], None, []], pa.map_(TEXT, INT)),
            pa.map_(pa.large_string(), pa.float64()),
            [[("k", 1.0)], None, []],
        ),
        (
            pa.array([[("k", 1)], None, []], pa.map_(TEXT, INT)),
            pa.list_(pa.struct({"key": TEXT, "value": INT})),
            [[{"key": "k", "value": 1}], None, []],
        ),
        (
            pa.array([[{"key": "k", "value": 1}], None, []]),
            pa.map_(TEXT, INT),
            [[("k", 1)], None, []],
        ),
        (
            pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}]),
            pa.struct({"b": pa.large_string(), "c": pa.list_(INT), "a": pa.float64()}),
            [{"b": "x", "c": None, "a": 1.0}, None, {"b": "y", "c": None, "a": None}],
        ),
        (pa.array([{}, None, {}], pa.struct([])), pa.struct({"a": INT}), [{"a": None}, None, {"a": None}]),
        (pa.array([{}, None, {}], pa.struct([])), pa.struct([]), [{}, None, {}]),
        (pa.array(["a", None, "a"]).dictionary_encode(), TEXT, ["a", None, "a"]),
        (pa.array(["a", None, "a"]), pa.dictionary(pa.int8(), pa.large_string()), ["a", None, "a"]),
        (
            pa.array(["a", None, "a"]).dictionary_encode(),
            pa.dictionary(pa.uint16(), pa.large_string()),
            ["a", None, "a"],
        ),
        (pa.array(['{"a": 1}', None, "[]"]), pa.json_(), ['{"a": 1}', None, "[]"]),
        (pa.array(['{"a": 1}', None, "[]"], pa.json_()), pa.large_string(), ['{"a": 1}', None, "[]"]),
        (pa.array([1, None, 3]), pa.decimal128(21, 2), [decimal.Decimal("1.00"), None, decimal.Decimal("3.00")]),
        (
            pa.array([date(2020, 1, 1), None, None]),
            pa.timestamp("us"),
            [datetime(2020, 1, 1), None, None],  # noqa: DTZ001 - a time stamp without a zone
        ),
    ],
    ids=lambda value: str(value.type if isinstance(value, pa.Array) else value)[:60],
)
def test_values_keep_their_meaning_in_the_new_type(array, target, expected):
    check_cast(array, target, expected)


@pytest.mark.parametrize(
    ("array", "target", "message"),
    [
        (pa.array([1.5]), INT, "`c` cannot be cast from double to int64: .*truncated"),
        (pa.array([300]), pa.int8(), "`c` cannot be cast from int64 to int8: .*300"),
        (pa.array(["x"]), INT, "`c` cannot be cast from string to int64"),
        (pa.array([1]), pa.null(), "`c` cannot be cast from int64 to null"),
        (pa.array([[1]]), INT, r"`c` cannot be cast from list<item: int64> to int64"),
        (pa.array([1]), pa.list_(INT), r"`c` cannot be cast from int64 to list<item: int64>"),
        (pa.array([1]), pa.struct({"a": INT}), r"`c` cannot be cast from int64 to struct<a: int64>"),
        (pa.array([{"a": 1}]), INT, r"`c` cannot be cast from struct<a: int64> to int64"),
        (pa.array([{"a": 1, "z": 1}]), pa.struct({"a": INT}), r"`c` cannot .*: the target lacks the fields \['z'\]"),
        (pa.array([[1, 2], [3]]), pa.list_(INT, 2), "`c` cannot be cast .*: the list at row 1 has 1 items, not 2"),
        (pa.array([{"a": [{"b": "x"}]}]), pa.struct({"a": pa.list_(pa.struct({"b": INT}))}), r"`c\.a\[\]\.b` cannot"),
        (pa.array([[[1.5]]]), pa.list_(pa.list_(INT)), r"`c\[\]\[\]` cannot be cast from double to int64"),
        (
            pa.array([{"a": None}, None], pa.struct({"a": INT})),
            pa.struct([pa.field("a", INT, nullable=False)]),
            r"`c\.a` has nulls but int64 is not nullable",
        ),
        (pa.array([[None]], pa.list_(INT)), pa.list_(pa.field("item", INT, nullable=False)), r"`c\[\]` has 1 nulls"),
        (pa.array([[1]]), pa.dictionary(pa.int8(), pa.list_(INT)), "`c` cannot be cast"),
        (pa.array([str(n) for n in range(200)]), pa.dictionary(pa.int8(), TEXT), "`c` cannot be cast"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_an_error_that_names_the_column_path_and_both_types(array, target, message):
    with pytest.raises(SchemaError, match=message):
        cast_table(pa.table({"c": array}), pa.schema({"c": target}))


def test_values_hidden_under_null_structs_neither_fail_the_cast_nor_reappear():
    hidden = pa.StructArray.from_arrays([pa.array([1, 10**6])], ["a"], mask=pa.array([False, True]))

    cast = cast_array(hidden, pa.struct({"a": pa.int8()}))

    assert cast.to_pylist() == [{"a": 1}, None]
    assert cast.field("a").to_pylist() == [1, None]


def test_values_hidden_under_null_lists_neither_fail_the_cast_nor_reappear():
    hidden = pa.ListArray.from_arrays(
        pa.array([0, 1, 3, 4], pa.int32()), pa.array([1, 10**6, 10**6, 4]), mask=pa.array([False, True, False])
    )

    cast = cast_array(hidden, pa.list_(pa.int8()))

    cast.validate(full=True)
    assert cast.to_pylist() == [[1], None, [4]]
    assert len(cast.values) == 2


def test_a_null_struct_may_lie_over_fields_that_are_not_nullable():
    target = pa.struct([pa.field("a", INT, nullable=False)])

    check_cast(pa.array([{"a": 1}, None, {"a": 3}]), target, [{"a": 1}, None, {"a": 3}])


def test_columns_are_found_by_name_and_follow_the_schema_with_its_metadata():
    table = pa.table({"a": [1], "b": ["x"]}, metadata={"old": "1"})
    schema = pa.schema(
        [pa.field("b", TEXT, metadata={"f": "1"}), pa.field("a", INT, nullable=False)], metadata={"new": "1"}
    )

    cast = cast_table(table, schema)

    assert cast.schema.equals(schema, check_metadata=True)
    assert cast.to_pydict() == {"b": ["x"], "a": [1]}
    batch = cast_batch(table.to_batches()[0], schema)
    assert batch.schema.equals(schema, check_metadata=True)
    assert batch.to_pydict() == {"b": ["x"], "a": [1]}


def test_a_cast_that_changes_metadata_alone_shares_the_data():
    table = pa.table({"a": pa.array(range(1000))})
    before = pa.total_allocated_bytes()

    cast = cast_table(table, pa.schema([pa.field("a", INT, metadata={"k": "v"})], metadata={"new": "1"}))

    assert cast.schema.metadata == {b"new": b"1"}
    assert pa.total_allocated_bytes() == before


def test_a_table_of_the_very_schema_is_returned_as_it_is():
    table = pa.table({"a": [1]}, metadata={"k": "v"})

    assert cast_table(table, table.schema) is table


def test_missing_columns_become_null_where_that_is_asked_for():
    table = pa.table({"a": pa.chunked_array([[1], [2, 3]])})
    schema = pa.schema({"new": pa.struct({"x": TEXT}), "a": INT})

    assert cast_table(table, schema, add_missing=True).to_pydict() == {"new": [None] * 3, "a": [1, 2, 3]}
    assert cast_batch(table.to_batches()[0], schema, add_missing=True).to_pydict() == {"new": [None], "a": [1]}
    with pytest.raises(SchemaError, match=r"missing \['new'\]"):
        cast_table(table, schema)


def test_a_missing_column_that_must_not_be_null_is_an_error():
    schema = pa.schema([pa.field("new", INT, nullable=False)])

    with pytest.raises(SchemaError, match=r"`new` .* is missing and cannot be null"):
        cast_table(pa.table({}), schema, add_missing=True)


def test_a_column_that_the_schema_does_not_have_is_an_error():
    with pytest.raises(SchemaError, match=r"not in the target schema \['b'\]"):
        cast_table(pa.table({"a": [1], "b": [1]}), pa.schema({"a": INT}))


def test_nulls_in_a_column_that_must_not_have_any_are_an_error():
    schema = pa.schema([pa.field("a", INT, nullable=False)])

    for cast, data in ((cast_table, pa.table), (cast_batch, pa.record_batch)):
        with pytest.raises(SchemaError, match="`a` has 1 nulls but int64 is not nullable"):
            cast(data({"a": [1, None]}), schema)


def test_columns_of_one_name_are_matched_in_their_order():
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])

    cast = cast_table(twice, pa.schema([("a", pa.float64()), ("a", TEXT)]))

    assert [column.to_pylist() for column in cast.columns] == [[1.0], ["2"]]


def test_columns_without_chunks_are_cast():
    table = pa.table({"a": pa.chunked_array([], INT), "b": pa.chunked_array([], pa.list_(INT))})
    schema = pa.schema({"a": TEXT, "b": pa.large_list(TEXT), "c": INT})

    cast = cast_table(table, schema, add_missing=True)

    assert cast.schema == schema
    assert cast.num_rows == 0


def test_rows_without_columns_stay():
    rows = pa.table({"a": [1, 2]}).select([])

    assert cast_table(rows, pa.schema([], metadata={"k": "v"})).num_rows == 2
    assert cast_table(rows, pa.schema({"b": TEXT}), add_missing=True).to_pydict() == {"b": [None, None]}
    assert cast_batch(pa.record_batch({"a": [1]}).select([]), pa.schema([], metadata={"k": "v"})).num_rows == 1


def test_chunks_stay_as_they_are():
    column = pa.chunked_array([[1, 2], [], [3]], INT)

    assert [len(chunk) for chunk in cast_array(column, pa.float64()).chunks] == [2, 0, 1]


def test_more_items_than_32_bit_offsets_reach_need_a_large_list():
    huge = pa.LargeListArray.from_arrays(pa.array([0, 2**31]), pa.nulls(2**31))

    with pytest.raises(SchemaError, match=r"2147483648 items need 64-bit offsets; cast to large_list"):
        cast_array(huge, pa.list_(pa.null()))


def test_fixed_size_tensors_keep_their_values():
    tensor = pa.fixed_shape_tensor(pa.float32(), [2, 2])
    values = pa.array([[1, 2, 3, 4]], pa.list_(INT, 4))

    cast = cast_array(values, tensor)

    assert cast.type == tensor
    assert np.array_equal(cast.to_numpy_ndarray(), np.array([[[1, 2], [3, 4]]], np.float32))


LEAVES = [
    (pa.int8(), pa.int64(), st.integers(-128, 127), int),
    (pa.int32(), pa.float64(), st.integers(-(2**31), 2**31 - 1), float),
    (pa.string(), pa.large_string(), st.text(max_size=4), str),
    (pa.large_string(), pa.string(), st.text(max_size=4), str),
    (pa.dictionary(pa.int8(), pa.string()), pa.string(), st.sampled_from("abc"), str),
    (pa.string(), pa.dictionary(pa.int32(), pa.string()), st.sampled_from("abc"), str),
    (pa.bool_(), pa.bool_(), st.booleans(), bool),
    (pa.null(), pa.list_(pa.int8()), st.none(), lambda value: value),
]


@st.composite
def casts(draw, depth=3):
    """Draw a source type, a target type, a strategy of values of the source, and what the cast makes of a value."""
    kind = draw(st.sampled_from(["leaf", "list", "fixed", "struct"])) if depth else "leaf"
    if kind == "leaf":
        source, target, values, convert = draw(st.sampled_from(LEAVES))
    elif kind == "struct":
        fields = draw(st.dictionaries(st.sampled_from("abc"), casts(depth=depth - 1), min_size=1))
        names = draw(st.permutations([*fields, "added"]))
        source = pa.struct({name: field[0] for name, field in fields.items()})
        target = pa.struct({name: fields[name][1] if name in fields else pa.list_(pa.int8()) for name in names})
        values = st.fixed_dictionaries({name: field[2] for name, field in fields.items()})

        def convert(value):
            return {name: fields[name][3](value[name]) if name in fields else None for name in names}
    else:
        item_source, item_target, items, convert_item = draw(casts(depth=depth - 1))
        size = draw(st.integers(1, 3)) if kind == "fixed" else None
        makers = [pa.list_, pa.large_list, pa.list_view]
        if size:
            makers.append(lambda item: pa.list_(item, size))
        source, target = draw(st.sampled_from(makers))(item_source), draw(st.sampled_from(makers))(item_target)
        values = st.lists(items, min_size=size or 0, max_size=size or 3)

        def convert(value):
            return [convert_item(item) for item in value]

    return source, target, st.none() | values, lambda value: None if value is None else convert(value)


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_any_nesting_casts_as_its_values_do(data):
    source, target, values, convert = data.draw(casts())
    rows = data.draw(st.lists(values, max_size=6))
    start = data.draw(st.integers(0, len(rows)))
    stop = data.draw(st.integers(start, len(rows)))
    array = pa.array(rows, source).slice(start, stop - start)

    cast = cast_array(array, target)

    cast.validate(full=True)
    assert cast.type.equals(target)
    assert cast.to_pylist() == [convert(row) for row in rows[start:stop]]
