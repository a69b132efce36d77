"""Keys of results along a chain."""

from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.errors import PlanError
from raydata_ext.plan import (
    Cache,
    Chain,
    Filter,
    Map,
    Position,
    SelectColumns,
    StepGroup,
    TableShard,
    UserFunction,
    Workers,
)
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


COLUMNS = SelectColumns(("a",))
ONE, OTHER = Workers(num_gpus=1), Workers(num_cpus=2)


def on(workers, kind=Map):
    return kind(UserFunction(identity), workers=workers)


def test_neighbours_with_the_same_workers_are_a_group():
    steps = [STEP, on(ONE), on(Workers(num_gpus=1), Filter), on(OTHER), STEP, STEP]
    groups = Chain.of(steps).groups
    assert groups == (StepGroup(1, None), StepGroup(3, ONE), StepGroup(4, OTHER), StepGroup(6, None))
    assert Chain.of([STEP, STEP]).groups == (StepGroup(2, None),)
    assert Chain.of([]).groups == (StepGroup(0, None),)


def test_steps_that_call_no_function_go_with_those_before_them_and_the_first_with_those_after():
    assert Chain.of([COLUMNS, on(ONE), COLUMNS, STEP, COLUMNS]).groups == (StepGroup(3, ONE), StepGroup(5, None))
    assert Chain.of([COLUMNS]).groups == (StepGroup(1, None),)


def test_a_result_is_kept_where_the_workers_change():
    assert Chain.of([STEP, on(ONE), Cache(), on(OTHER), Cache(), COLUMNS]).kept == (1, 2, 3, 4)


def test_workers_change_no_key():
    fused = keys(STEP, STEP, STEP)
    assert keys(STEP, on(ONE), STEP)[-1] == fused[-1]
    assert keys(on(ONE), on(OTHER), on(None))[-1] == fused[-1]
    assert keys(STEP, on(ONE))[0] == keys(STEP)[0]
