from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.errors import SchemaError
from raydata_ext.table.cast import cast_table
from raydata_ext.table.unify import unify_schemas, unify_types

INT, TEXT = pa.int64(), pa.string()

WIDENED = [
    (pa.null(), INT, INT),
    (pa.null(), pa.struct({"a": INT}), pa.struct({"a": INT})),
    (pa.int8(), pa.int32(), pa.int32()),
    (pa.uint8(), pa.uint16(), pa.uint16()),
    (pa.uint8(), pa.int8(), pa.int16()),
    (pa.uint32(), pa.int8(), pa.int64()),
    (pa.uint64(), pa.int64(), pa.uint64()),
    (pa.uint64(), pa.int8(), pa.uint64()),
    (pa.int64(), pa.float64(), pa.float64()),
    (pa.int64(), pa.float32(), pa.float64()),
    (pa.int16(), pa.float32(), pa.float32()),
    (pa.int8(), pa.float16(), pa.float16()),
    (pa.float16(), pa.float32(), pa.float32()),
    (TEXT, pa.large_string(), pa.large_string()),
    (TEXT, pa.string_view(), pa.string()),
    (pa.binary(), pa.large_binary(), pa.large_binary()),
    (pa.binary(3), pa.binary(4), pa.binary()),
    (pa.date32(), pa.date64(), pa.date64()),
    (pa.timestamp("s", "UTC"), pa.timestamp("us", "UTC"), pa.timestamp("us", "UTC")),
    (pa.timestamp("s", "+01:00"), pa.timestamp("us", "+02:00"), pa.timestamp("us", "UTC")),
    (pa.duration("ns"), pa.duration("ms"), pa.duration("ns")),
    (pa.time32("s"), pa.time64("us"), pa.time64("us")),
    (pa.time32("s"), pa.time32("ms"), pa.time32("ms")),
    (pa.decimal128(5, 2), pa.decimal128(10, 4), pa.decimal128(10, 4)),
    (pa.decimal128(10, 0), pa.decimal128(10, 9), pa.decimal128(19, 9)),
    (pa.decimal128(38, 0), pa.decimal128(38, 10), pa.decimal256(48, 10)),
    (pa.decimal128(10, 2), pa.int64(), pa.decimal128(22, 2)),
    (pa.list_(INT), pa.list_(pa.null()), pa.list_(INT)),
    (pa.list_(INT), pa.large_list(pa.float64()), pa.large_list(pa.float64())),
    (pa.list_(INT, 2), pa.list_(pa.int8(), 2), pa.list_(INT, 2)),
    (pa.list_(INT, 2), pa.list_(INT, 3), pa.list_(INT)),
    (pa.list_(INT), pa.list_view(INT), pa.list_(INT)),
    (pa.map_(TEXT, pa.int8()), pa.map_(TEXT, INT), pa.map_(TEXT, INT)),
    (pa.struct({"a": INT}), pa.struct({"b": TEXT, "a": pa.null()}), pa.struct({"a": INT, "b": TEXT})),
    (pa.list_(pa.struct({"a": INT})), pa.list_(pa.struct({"b": INT})), pa.list_(pa.struct({"a": INT, "b": INT}))),
    (pa.dictionary(pa.int8(), TEXT), pa.dictionary(pa.int32(), TEXT), pa.dictionary(pa.int32(), TEXT)),
    (pa.dictionary(pa.int8(), TEXT), TEXT, TEXT),
    (pa.dictionary(pa.int8(), TEXT), pa.null(), pa.dictionary(pa.int8(), TEXT)),
]
CONFLICTS = [
    (INT, TEXT),
    (pa.bool_(), pa.int8()),
    (TEXT, pa.binary()),
    (pa.timestamp("us"), pa.timestamp("us", "UTC")),
    (pa.timestamp("us"), pa.date32()),
    (pa.float64(), pa.decimal128(5, 2)),
    (pa.list_(INT), INT),
    (pa.struct({"a": INT}), pa.list_(INT)),
    (pa.map_(TEXT, INT), pa.struct({"a": INT})),
    (pa.decimal256(76, 0), pa.decimal256(76, 10)),
]


@pytest.mark.parametrize(("first", "second", "unified"), WIDENED, ids=str)
def test_two_types_widen_to_one_in_either_order(first, second, unified):
    assert unify_types([first, second]) == unified
    if not pa.types.is_struct(first) and "struct" not in str(first):  # fields stand in the order first seen
        assert unify_types([second, first]) == unified


@pytest.mark.parametrize(("first", "second"), CONFLICTS, ids=str)
def test_a_conflict_names_the_column_and_both_types(first, second):
    with pytest.raises(SchemaError) as error:
        unify_schemas([pa.schema({"c": first}), pa.schema({"c": second})])

    assert str(error.value).startswith(f"`c` is {first} in one place and {second} in another")


def test_a_conflict_deep_inside_names_the_way_to_it():
    first = pa.schema({"a": pa.struct({"b": pa.list_(pa.struct({"c": INT}))})})
    second = pa.schema({"a": pa.struct({"b": pa.list_(pa.struct({"c": TEXT}))})})

    with pytest.raises(SchemaError, match=r"`a\.b\[\]\.c` is int64 in one place and string in another"):
        unify_schemas([first, second])


def test_columns_stand_in_the_order_in_which_they_are_first_seen():
    schemas = [pa.schema({"b": INT, "a": INT}), pa.schema({"c": TEXT, "a": pa.float64()})]

    assert unify_schemas(schemas) == pa.schema({"b": INT, "a": pa.float64(), "c": TEXT})


def test_a_column_is_nullable_where_one_schema_allows_null_or_lacks_it():
    required = pa.schema([pa.field("a", INT, nullable=False), pa.field("b", INT, nullable=False)])
    optional = pa.schema([pa.field("a", INT, nullable=False)])

    assert unify_schemas([required, required]) == required
    unified = unify_schemas([required, optional])
    assert [field.nullable for field in unified] == [False, True]
    assert unify_schemas([optional, required]) == unified


def test_metadata_is_the_first_seen_of_each_key():
    schemas = [pa.schema({"a": INT}, {"k": "1"}), pa.schema({"b": INT}, {"k": "2", "l": "3"})]

    assert unify_schemas(schemas).metadata == {b"k": b"1", b"l": b"3"}


def test_one_schema_is_its_own_union():
    schema = pa.schema({"a": INT}, {"k": "v"})

    assert unify_schemas([schema]).equals(schema, check_metadata=True)


def test_no_schema_at_all_is_an_error():
    with pytest.raises(SchemaError, match="no schema to unify"):
        unify_schemas([])


def test_a_column_that_occurs_twice_is_an_error():
    twice = pa.schema([("a", INT), ("a", INT)])

    with pytest.raises(ValueError, match="`a` occurs twice"):
        unify_schemas([twice, pa.schema({"b": INT})])


def test_ten_thousand_schemas_unify_to_one_that_holds_all():
    columns = {f"column_{index}": INT for index in range(20)}
    equal = [pa.schema(columns, {"huggingface": f'{{"fingerprint": "{index}"}}'}) for index in range(10_000)]
    near = [pa.schema({**columns, "extra": pa.list_(INT if index % 3 else pa.null())}) for index in range(10_000)]
    nested = [pa.schema({**columns, "s": pa.struct({f"key_{index % 500}": TEXT})}) for index in range(10_000)]

    unified = [unify_schemas(schemas) for schemas in (equal, near, nested)]
    assert [len(schema) for schema in unified] == [20, 21, 21]
    assert unified[2].field("s").type.num_fields == 500


@st.composite
def types(draw, depth=2):
    leaf = st.sampled_from([pa.null(), pa.int8(), pa.int64(), pa.uint16(), pa.float64(), TEXT, pa.large_string()])
    if depth == 0 or draw(st.booleans()):
        return draw(leaf)
    if draw(st.booleans()):
        make = draw(st.sampled_from([pa.list_, pa.large_list]))
        return make(draw(types(depth=depth - 1)))
    return pa.struct(draw(st.dictionaries(st.sampled_from("ab"), types(depth=depth - 1), min_size=1)))


@given(st.lists(st.dictionaries(st.sampled_from("xy"), types(), min_size=1).map(pa.schema), min_size=1, max_size=4))
@settings(deadline=None)
def test_every_schema_can_be_cast_to_the_union(schemas):
    try:
        unified = unify_schemas(schemas)
    except SchemaError:
        return
    for schema in schemas:
        table = pa.table([pa.nulls(3, field.type) for field in schema], schema=schema)
        assert cast_table(table, unified, add_missing=True).schema.equals(unified, check_metadata=True)
    assert unify_schemas([*schemas, unified]).equals(unified)


def test_integers_beyond_int64_are_kept_and_negative_ones_beside_them_are_an_error_that_names_the_value():
    small, large = pa.table({"n": pa.array([1], pa.int64())}), pa.table({"n": pa.array([2**64 - 1], pa.uint64())})
    negative = pa.table({"n": pa.array([-7], pa.int64())})
    unified = unify_schemas([small.schema, large.schema])
    assert [cast_table(table, unified)["n"].to_pylist() for table in (small, large)] == [[1], [2**64 - 1]]
    with pytest.raises(SchemaError, match=r"`n` cannot be cast from int64 to uint64: Integer value -7 .*decimal128"):
        cast_table(negative, unified)
    wide = pa.schema([("n", pa.decimal128(20, 0))])
    assert [int(cast_table(table, wide)["n"][0].as_py()) for table in (negative, large)] == [-7, 2**64 - 1]


@given(st.permutations([pa.int8(), pa.int64(), pa.uint8(), pa.uint32(), pa.uint64(), pa.null()]), st.integers(2, 6))
def test_the_order_of_integer_types_does_not_matter(kinds, count):
    some = kinds[:count]
    assert unify_types(some) == unify_types(sorted(some, key=str))
