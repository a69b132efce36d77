"""Keys of results along a chain."""

from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.errors import PlanError
from raydata_ext.plan import Cache, Chain, Map, Position, SelectColumns, TableShard, UserFunction
from raydata_ext.table import InMemoryTable


def identity(row):
    return row


STEP = Map(UserFunction(identity))
SHARD = TableShard(InMemoryTable(pa.table({"a": [1]})))


def keys(*steps, content="c", position=None):
    position = position or Position(0, 0)
    return Chain.of(steps).keys(SHARD, content, position)


def test_results_are_kept_at_cache_marks_and_at_the_end():
    assert Chain.of([STEP, Cache(), STEP]).kept == (1, 2)
    assert Chain.of([STEP, STEP]).kept == (2,)
    assert Chain.of([Cache(), STEP, Cache()]).kept == (0, 1)
    assert Chain.of([]).kept == (0,)


def test_a_cache_mark_changes_no_key():
    assert keys(STEP, Cache(), STEP)[-1] == keys(STEP, STEP)[-1]
    assert keys(STEP, Cache(), STEP)[0] == keys(STEP)[-1]


def test_a_key_depends_on_content_and_on_the_order_of_steps():
    select = SelectColumns(("a",))
    assert keys(STEP, select) != keys(select, STEP)
    assert keys(STEP, content="c") != keys(STEP, content="d")


def test_where_a_shard_stands_counts_only_for_steps_that_see_it():
    here, there = Position(0, 0), Position(3, 100)
    assert keys(STEP, position=here) == keys(STEP, position=there)
    for option in ("with_indices", "with_rank"):
        step = Map(UserFunction(identity), **{option: True})
        assert keys(step, position=here) != keys(step, position=there)


def test_a_step_before_the_one_that_sees_positions_is_shared():
    step = Map(UserFunction(identity), with_indices=True)
    first, _ = keys(STEP, Cache(), step, position=Position(0, 0))
    other, _ = keys(STEP, Cache(), step, position=Position(3, 100))
    assert first == other


def test_unknown_row_numbers_are_an_error_and_not_a_guess():
    with pytest.raises(PlanError, match="row numbers"):
        keys(Map(UserFunction(identity), with_indices=True), position=Position(1, None))
