"""A step of a plan at work on a stream."""

from __future__ import annotations

import gc

import pyarrow as pa
import pytest

from raydata_ext.errors import PlanError, StepError
from raydata_ext.plan import Cast, Filter, Map, RemoveColumns, RenameColumns, SelectColumns, UserFunction
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.nodes.skip_take import Skip, Take
from raydata_ext.streaming.nodes.transform import Transform, below_row_steps


def twice(row):
    return {"x": 2 * row["x"]}


def is_even(row):
    return row["x"] % 2 == 0


def with_sum(batch):
    return {"x": batch["x"], "sum": [sum(batch["x"])] * len(batch["x"])}


MAP = Map(function=UserFunction(twice))
FILTER = Filter(function=UserFunction(is_even))
SUMS = Map(function=UserFunction(with_sum), batched=True, batch_size=3)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (MAP, [{"x": 2 * i} for i in range(5)]),
        (FILTER, [{"x": 0}, {"x": 2}, {"x": 4}]),
        (SUMS, [{"x": i, "sum": s} for i, s in enumerate([3, 3, 3, 7, 7])]),
        (RenameColumns((("x", "ü"),)), [{"ü": i} for i in range(5)]),
        (Cast(pa.schema([("x", pa.string())])), [{"x": str(i)} for i in range(5)]),
    ],
    ids=["map", "filter", "map by batches", "rename", "cast"],
)
def test_a_step_does_what_it_does_in_a_plan(numbers, step, expected, rows, goes_on_at_every_row):
    assert rows(Transform(numbers(2, 0, 3), step)) == expected
    assert rows(Transform(numbers(0), step)) == []
    goes_on_at_every_row(lambda: Transform(numbers(2, 0, 3), step))


def test_rows_are_known_where_a_step_keeps_their_number(tables):
    assert Transform(tables(4), MAP).num_rows == 4
    assert Transform(tables(4), FILTER).num_rows is None
    assert Transform(tables(4), SUMS).num_rows is None


def test_columns_are_known_where_the_step_says_them(tables):
    assert Transform(tables(1), RenameColumns((("x", "y"),))).schema.names == ["y"]
    assert Transform(tables(1), RemoveColumns(("x",))).schema.names == []
    assert Transform(tables(1), FILTER).schema.names == ["x"]
    assert Transform(tables(1), MAP).schema is None


@pytest.mark.parametrize("step", [SelectColumns(("y",)), RemoveColumns(("y",)), RenameColumns((("y", "z"),))])
def test_a_column_that_is_not_there_is_named_before_rows_are_read(tables, step):
    with pytest.raises(PlanError, match=r"there is no column 'y'; these rows have \['x'\]"):
        _ = Transform(tables(1), step).schema


def test_footers_are_not_read_below_a_step_that_makes_its_own_columns(generated):
    node = Transform(generated(3), MAP)
    assert node.typed() is node
    assert Transform(generated(3), FILTER).typed() is not node


def test_rows_are_chosen_below_steps_that_treat_each_for_itself(tables, xs):
    node = below_row_steps(Transform(tables(5), MAP), lambda child: Skip(child, 3))
    assert isinstance(node, Transform)
    assert xs(node) == [6, 8]
    for step in (FILTER, SUMS):
        assert isinstance(below_row_steps(Transform(tables(5), step), lambda child: Take(child, 1)), Take)


def test_a_callable_lives_as_long_as_a_pass_that_calls_it(tables):
    events = []

    class Model:
        def setup(self):
            events.append("setup")

        def teardown(self):
            events.append("teardown")

        def __call__(self, row):
            return row

    node = Transform(tables(3), Map(function=UserFunction(Model)))
    first, second = open_rows(node, None), open_rows(node, None)
    first.next()
    second.next()
    assert events == ["setup"]
    del first, second
    gc.collect()
    assert events == ["setup", "teardown"]


def test_rows_of_a_batch_that_failed_are_not_passed_over(tables):
    failed = []

    def fail_once(row):
        if row["x"] == 2 and not failed:
            failed.append(row)
            raise OSError("the model's server did not answer")
        return row

    cursor = open_rows(Transform(tables(4), Map(function=UserFunction(fail_once))), None)
    before = cursor.state()
    with pytest.raises(StepError, match="row 2"):
        cursor.next()
    cursor.load(before)
    assert cursor.next().column("x").to_pylist() == [0, 1, 2, 3]
