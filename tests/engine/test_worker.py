"""Callables of a worker: built once, set up, torn down."""

from __future__ import annotations

import functools

import pytest

from raydata_ext.engine import Program, Worker
from raydata_ext.errors import StepError
from raydata_ext.plan import Chain, Filter, Map, SelectColumns, UserFunction
from raydata_ext.store import Store


@pytest.fixture
def worker_for(tmp_path):
    return lambda *steps: Worker(Program(Chain.of(steps), Store.open(tmp_path)))


def recorder(events, *, failing=()):
    class Model:
        def __init__(self, name="model"):
            self.name = name
            self.note("built")

        def setup(self):
            self.note("setup")

        def teardown(self):
            self.note("teardown")

        def __call__(self, row, suffix=""):
            return {"by": self.name + suffix}

        def note(self, event):
            events.append((self.name, event))
            if (self.name, event) in failing or event in failing:
                raise RuntimeError(f"{event} of {self.name} failed")

    return Model


def step(model, **kwargs):
    return Map(UserFunction(model, constructor_kwargs=kwargs))


def test_a_class_is_built_and_set_up_once_and_torn_down_when_the_worker_ends(worker_for):
    events = []
    with worker_for(step(recorder(events))) as worker:
        assert worker.callable(0) is worker.callable(0)
        assert events == [("model", "built"), ("model", "setup")]
    assert events[2:] == [("model", "teardown")]


def test_a_class_that_is_never_used_is_neither_built_nor_torn_down(worker_for):
    events = []
    with worker_for(step(recorder(events))):
        pass
    assert events == []


def test_arguments_reach_constructor_and_call(worker_for):
    model = recorder([])
    function = UserFunction(model, fn_kwargs={"suffix": "!"}, constructor_kwargs={"name": "big"})
    with worker_for(Map(function)) as worker:
        assert worker.callable(0)({}) == {"by": "big!"}


def test_a_closed_worker_builds_anew(worker_for):
    events = []
    worker = worker_for(step(recorder(events)))
    for _ in range(2):
        worker.callable(0)
        worker.close()
    assert events == [("model", "built"), ("model", "setup"), ("model", "teardown")] * 2


@pytest.mark.parametrize("event", ["built", "setup"])
def test_a_class_that_cannot_be_built_names_the_step_and_its_traceback(worker_for, event):
    events = []
    worker = worker_for(SelectColumns(("a",)), step(recorder(events, failing=(event,))))
    with pytest.raises(StepError) as caught:
        worker.callable(1)
    text = str(caught.value)
    assert text.startswith(f"step 2 `Model`: building: RuntimeError: {event} of model failed")
    assert 'raise RuntimeError(f"{event} of {self.name} failed")' in text
    worker.close()
    assert ("model", "teardown") not in events


def test_a_class_whose_instances_cannot_be_called_is_an_error_that_says_so(worker_for):
    with pytest.raises(StepError, match=r"step 1 `dict`: building: TypeError: its instances cannot be called"):
        worker_for(Map(UserFunction(dict))).callable(0)


def test_one_teardown_that_raises_does_not_keep_the_others_from_theirs(worker_for):
    events = []
    model = recorder(events, failing=[("second", "teardown")])
    worker = worker_for(step(model, name="first"), step(model, name="second"))
    worker.callable(0)
    worker.callable(1)
    with pytest.raises(StepError, match=r"step 2 .*teardown: RuntimeError: teardown of second failed"):
        worker.close()
    assert events[-2:] == [("second", "teardown"), ("first", "teardown")]


def test_functions_and_instances_are_called_as_they_are(worker_for):
    class Tagger:
        def setup(self):
            raise AssertionError("only what the worker built is set up by it")

        def __call__(self, row):
            return True

    def add(row, suffix):
        return {"text": row["text"] + suffix}

    with worker_for(Map(UserFunction(functools.partial(add, suffix="?"))), Filter(UserFunction(Tagger()))) as worker:
        assert worker.callable(0)({"text": "a"}) == {"text": "a?"}
        assert worker.callable(1)({}) is True
