"""Tasks in the calling process."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from raydata_ext.engine import Program
from raydata_ext.engine.inline_executor import InlineExecutor
from raydata_ext.plan import Chain, Map, UserFunction
from raydata_ext.store import Store

EVENTS: list[str] = []


class Model:
    def __init__(self):
        EVENTS.append("built")

    def __call__(self, row):
        return row

    def teardown(self):
        EVENTS.append("teardown")


@dataclass(frozen=True)
class Call:
    """A task that takes the callable of the first step."""

    number: int
    fails: bool = False
    label: str = "call"
    num_bytes: int = 0
    home: str = ""

    def run(self, worker):
        if self.fails:
            raise ValueError(f"task {self.number}")
        return self.number, worker.callable(0)


@pytest.fixture
def program(tmp_path):
    EVENTS.clear()
    return Program(Chain.of([Map(UserFunction(Model))]), Store.open(tmp_path))


def test_tasks_run_in_order_with_one_instance_that_is_torn_down_at_the_end(program):
    results = list(InlineExecutor().run(program, [Call(0), Call(1), Call(2)]))
    assert [(done.number, done.value[0]) for done in results] == [(0, 0), (1, 1), (2, 2)]
    assert len({id(done.value[1]) for done in results}) == 1
    assert EVENTS == ["built", "teardown"]


def test_a_task_that_fails_ends_the_run_and_tears_down(program):
    with pytest.raises(ValueError, match="task 1"):
        list(InlineExecutor().run(program, [Call(0), Call(1, fails=True), Call(2)]))
    assert EVENTS == ["built", "teardown"]


def test_a_run_that_is_left_early_tears_down(program):
    run = InlineExecutor().run(program, [Call(0), Call(1)])
    next(run)
    run.close()
    assert EVENTS == ["built", "teardown"]
