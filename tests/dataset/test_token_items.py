"""The items of a column of tokens."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydata_ext.dataset.token_items import TokenColumn
from raydata_ext.errors import SchemaError

FLAT = TokenColumn("ids", None, nested=False)
NESTED = TokenColumn("ids", None, nested=True)


def batch_of(rows, kind, **others):
    return pa.record_batch({"ids": pa.array(rows, kind), **others})


@pytest.mark.parametrize("kind", [pa.list_(pa.uint16()), pa.large_list(pa.int64()), pa.list_(pa.int8(), 2)])
def test_each_row_is_an_item_and_a_document(kind):
    items = FLAT.items(batch_of([[1, 2], [3, 4], [5, 6]], kind).slice(1), 7)
    assert (items.tokens.tolist(), items.sizes.tolist()) == ([3, 4, 5, 6], [2, 2])
    assert (items.rows.tolist(), items.documents.tolist(), items.limits) == ([0, 1], [0, 1], (3, 6))


@given(st.lists(st.lists(st.lists(st.integers(0, 99), max_size=3), max_size=3), max_size=5))
def test_a_row_of_lists_is_a_document_of_several_items(rows):
    items = NESTED.items(batch_of(rows, pa.list_(pa.list_(pa.int32()))), 0)
    flat = [item for row in rows for item in row]
    assert items.sizes.tolist() == [len(item) for item in flat]
    assert items.tokens.tolist() == [token for item in flat for token in item]
    borders = [*items.documents.tolist(), len(flat)]
    assert [flat[start:end] for start, end in itertools.pairwise(borders)] == rows


@given(st.lists(st.lists(st.lists(st.integers(0, 300), max_size=3), max_size=3), max_size=5))
def test_the_first_token_that_does_not_fit_is_named_with_its_row(rows):
    items = NESTED.items(batch_of(rows, pa.list_(pa.list_(pa.int32()))), 10)
    bad = [(10 + number, token) for number, row in enumerate(rows) for item in row for token in item if token > 255]
    if bad:
        with pytest.raises(ValueError, match=rf"row {bad[0][0]}: token {bad[0][1]} does not fit uint8 \(0 to 255\)"):
            items.cast(np.dtype(np.uint8))
    else:
        assert items.cast(np.dtype(np.uint8)).tolist() == items.tokens.tolist()


def test_documents_begin_where_the_other_column_says():
    column = TokenColumn("ids", "first", nested=False)
    batch = batch_of([[1], [2], [3]], pa.list_(pa.int32()), first=[True, False, True])
    assert column.items(batch, 0).documents.tolist() == [0, 2]
    assert column.items(batch.slice(1), 1).documents.tolist() == [1]
    with pytest.raises(ValueError, match="row 0 begins no document: 'first' is false there"):
        column.items(batch.slice(1), 0)


@pytest.mark.parametrize(
    ("column", "rows", "kind"),
    [
        (FLAT, [[1], None], pa.list_(pa.int32())),
        (FLAT, [[1], [2, None]], pa.list_(pa.int32())),
        (NESTED, [[[1]], [[2], None]], pa.list_(pa.list_(pa.int32()))),
        (NESTED, [[[1], []], [[], [None]], []], pa.list_(pa.list_(pa.int32()))),
    ],
)
def test_a_null_is_an_error_that_names_the_row(column, rows, kind):
    with pytest.raises(ValueError, match="row 5: column 'ids' is null"):
        column.items(batch_of(rows, kind), 4)


def test_columns_of_other_types_are_refused():
    schema = pa.schema(
        {"ids": pa.list_(pa.int32()), "deep": pa.list_(pa.list_(pa.int8())), "x": pa.list_(pa.string()), "d": pa.int8()}
    )
    assert TokenColumn.of(schema, "deep", None).nested
    for name, documents, error, message in (
        ("nope", None, ValueError, "there is no column 'nope'"),
        ("x", None, SchemaError, "column 'x' is list<item: string>; expected are lists of integers"),
        ("d", None, SchemaError, "column 'd' is int8"),
        ("ids", "d", SchemaError, "column 'd' is int8; it must be bool"),
    ):
        with pytest.raises(error, match=message):
            TokenColumn.of(schema, name, documents)
    with pytest.raises(ValueError, match="each row of 'deep' is a document"):
        TokenColumn.of(schema.append(pa.field("b", pa.bool_())), "deep", "b")
