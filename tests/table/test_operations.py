"""Each operation says what it makes of schema and number of rows without any rows, and survives its state."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from raydata_ext.errors import StateError
from raydata_ext.table.operations import (
    AddColumn,
    Cast,
    CombineChunks,
    Filter,
    Flatten,
    RenameColumns,
    ReplaceSchemaMetadata,
    Select,
    SetColumn,
    Slice,
    operation_from_state,
)
from raydata_ext.table.replay import Replays

TABLE = pa.table(
    {"n": [1, 2, None], "s": ["a", None, "c"], "d": [{"x": 1, "y": "q"}, None, {"x": 2, "y": None}]},
    metadata={"note": "kept"},
)
COLUMN = pa.chunked_array([[1.5], [None, 2.5]])
OPERATIONS = [
    Slice(1, 2),
    Slice(1, 9),
    Filter(pa.array([True, None, True])),
    Filter(pa.array([False, None, True]), "emit_null"),
    Flatten(),
    CombineChunks(),
    Cast(pa.schema([("s", pa.large_string()), ("n", pa.float32()), ("d", TABLE.field("d").type)], metadata={"a": "b"})),
    Cast(pa.schema([*TABLE.schema, pa.field("new", pa.list_(pa.int8()))]), add_missing=True),
    ReplaceSchemaMetadata.of({"a": "b"}),
    ReplaceSchemaMetadata.of(None),
    Select((2, 0, 2)),
    Select(()),
    RenameColumns(("a", "b", "a")),
    AddColumn(1, pa.field("x", pa.float64(), metadata={"k": "v"}), COLUMN),
    SetColumn(1, pa.field("x", pa.float64()), COLUMN),
]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_schema_and_number_of_rows_are_known_without_rows(operation):
    made = operation.apply(TABLE)
    assert operation.schema_after(TABLE.schema).equals(made.schema, check_metadata=True)
    assert operation.schema_after(TABLE.schema).equals(made.schema, check_metadata=True)
    assert operation.rows_after(TABLE.num_rows) == made.num_rows


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_an_operation_made_again_from_its_pickled_state_does_the_same(operation):
    state = pickle.loads(pickle.dumps((operation.name, operation.arguments())))
    again = operation_from_state(state)
    assert type(again) is type(operation)
    assert again.apply(TABLE).equals(operation.apply(TABLE), check_metadata=True)


def test_the_schema_is_found_anew_for_another_schema():
    flatten = Flatten()
    assert flatten.schema_after(TABLE.schema).names == ["n", "s", "d.x", "d.y"]
    assert flatten.schema_after(TABLE.schema.remove(2)).names == ["n", "s"]


def test_a_state_that_is_no_operation_is_refused_with_the_list_of_those_that_are():
    for state in (None, "slice", ("slice",), ("take", ([0],)), ("slice", [0, 1]), (print, ())):
        with pytest.raises(
            StateError, match=r"not an operation that can be replayed.*add_column, cast, combine_chunks"
        ):
            operation_from_state(state)
    with pytest.raises(StateError, match="unusable arguments for 'slice'"):
        operation_from_state(("slice", (1, 2, 3)))
    with pytest.raises(StateError, match="unusable arguments for 'slice'"):
        operation_from_state(("slice", (-1, 2)))
    with pytest.raises(StateError, match="unusable arguments for 'cast'"):
        operation_from_state(("cast", ("n: int64", False)))
    with pytest.raises(StateError, match="unusable arguments for 'filter'"):
        operation_from_state(("filter", (b"", "sometimes")))


def test_a_mask_or_column_that_does_not_fit_is_an_error():
    with pytest.raises(ValueError, match="mask of 1 values does not fit a table of 3 rows"):
        Filter(pa.array([True])).apply(TABLE)
    with pytest.raises(ValueError, match="must be 'drop' or 'emit_null', not 'keep'"):
        Filter(pa.array([True]), "keep")


def test_merged_replays_do_what_the_operations_do_one_by_one():
    chain = [
        Slice(0, 3), Slice(1, 2), Slice(0, 1), Select((2, 1, 0)), Select((1, 2)), RenameColumns(("a", "b")),
        RenameColumns(("s", "n")), CombineChunks(), CombineChunks(),
        Cast(pa.schema([("n", pa.int64()), ("s", pa.string())])),
        Cast(pa.schema([("s", pa.string()), ("n", pa.int16())])),
    ]  # fmt: skip
    replays, table = Replays(), TABLE
    for operation in chain:
        replays = replays.then(operation, TABLE.schema)
        table = operation.apply(table)
    assert [operation.name for operation in replays.operations] == [
        "slice", "select", "rename_columns", "combine_chunks", "cast"
    ]  # fmt: skip
    assert replays.apply(TABLE).equals(table, check_metadata=True)
    assert replays.schema_after(TABLE.schema).equals(table.schema, check_metadata=True)
    assert replays.rows_after(3) == 1
    assert Replays.from_state(replays.state()).apply(TABLE).equals(table)


def test_a_cast_that_adds_columns_and_one_that_changes_their_type_are_one():
    first = Cast(pa.schema([*TABLE.schema, pa.field("new", pa.null())]), add_missing=True)
    second = Cast(pa.schema([*TABLE.schema, pa.field("new", pa.string())]))
    replays = Replays().then(first, TABLE.schema).then(second, TABLE.schema)
    assert len(replays.operations) == 1
    assert replays.apply(TABLE).equals(second.apply(first.apply(TABLE)))
