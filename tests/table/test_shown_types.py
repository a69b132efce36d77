from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.errors import SchemaError
from raydata_ext.table.shown_types import shown_type, unify_shown

INT, TEXT = pa.int64(), pa.string()


@pytest.mark.parametrize(
    ("values", "declared", "shown"),
    [
        ([1, None], INT, INT),
        ([None], INT, pa.null()),
        ([], INT, pa.null()),
        ([[], None], pa.list_(TEXT), pa.list_(pa.null())),
        ([["a"]], pa.large_list(TEXT), pa.large_list(TEXT)),
        ([[None, None]], pa.list_(TEXT, 2), pa.list_(pa.null(), 2)),
        ([[]], pa.list_view(TEXT), pa.list_view(pa.null())),
        ([[[]], [[1]]], pa.list_(pa.list_(INT)), pa.list_(pa.list_(INT))),
        ([{"a": None, "b": 1}, None], pa.struct({"a": TEXT, "b": INT}), pa.struct({"a": pa.null(), "b": INT})),
        ([{"a": []}], pa.struct({"a": pa.list_(INT)}), pa.struct({"a": pa.list_(pa.null())})),
        ([[]], pa.map_(TEXT, INT), pa.map_(TEXT, INT)),
        (["a"], pa.dictionary(pa.int8(), TEXT), pa.dictionary(pa.int8(), TEXT)),
    ],
)
def test_parts_without_a_value_are_null(values, declared, shown):
    array = pa.array(values, declared)

    assert shown_type(array) == shown
    assert shown_type(pa.chunked_array([array, array[:0]], type=declared)) == shown


def test_what_lies_hidden_under_a_null_is_not_shown():
    hidden = pa.StructArray.from_arrays([pa.array([1, None])], names=["a"], mask=pa.array([True, False]))

    assert shown_type(hidden) == pa.struct({"a": pa.null()})


def parts(*arrays):
    return [(pa.schema({"c": array.type, "n": INT}), lambda _name, array=array: shown_type(array)) for array in arrays]


def test_types_that_go_together_are_unified_as_they_are_declared():
    assert unify_shown(parts(pa.array([None], pa.int8()), pa.array([None], INT))).field("c").type == INT


def test_of_types_that_do_not_go_together_those_of_values_count():
    nothing = pa.array([[], None], pa.list_(TEXT))

    assert unify_shown(parts(nothing, pa.array([[1]]), nothing)).types == [pa.list_(INT), INT]
    assert unify_shown(parts(nothing, pa.array([None], INT))).types == [pa.list_(pa.null()), INT]


def test_values_that_do_not_go_together_are_an_error_that_names_both():
    with pytest.raises(SchemaError, match="`c` is string in one place and int64 in another"):
        unify_shown(parts(pa.array(["a"]), pa.array([1])))
