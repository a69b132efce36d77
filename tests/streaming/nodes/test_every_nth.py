"""Rows dealt one by one."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.streaming import IterableDataset
from raydata_ext.streaming.nodes.every_nth import EveryNth
from raydata_ext.streaming.rows import PIECE_ROWS
from raydata_ext.table import InMemoryTable


def rows_of(total, step, remainder="uneven"):
    source = IterableDataset.from_tables([InMemoryTable(pa.table({"x": range(total)}))])
    return [[row["x"] for row in source.over(EveryNth(source.node, step, i, remainder))] for i in range(step)]


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 40), st.integers(1, 9))
def test_readers_get_rows_in_turn(total, step):
    assert rows_of(total, step) == [list(range(i, total, step)) for i in range(step)]


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 40), st.integers(1, 9))
def test_all_readers_get_equally_many_rows_where_some_are_dropped_or_repeated(total, step):
    assert {len(rows) for rows in rows_of(total, step, "drop")} == {total // step}
    padded = rows_of(total, step, "pad")
    assert {len(rows) for rows in padded} == {-(-total // step)}
    assert {row for rows in padded for row in rows} == set(range(total))


@pytest.mark.parametrize("total", [PIECE_ROWS - 1, PIECE_ROWS, 3 * PIECE_ROWS + 5])
def test_the_turn_goes_on_over_pieces(total):
    assert rows_of(total, 7) == [list(range(i, total, 7)) for i in range(7)]


def test_more_readers_than_rows_of_a_piece_get_rows():
    source = IterableDataset.from_tables([InMemoryTable(pa.table({"x": range(20_000)}))])
    assert [row["x"] for row in source.over(EveryNth(source.node, 19_999, 0))] == [0, 19_999]
    assert [row["x"] for row in source.over(EveryNth(source.node, 19_999, 1))] == [1]
