"""What a step's fingerprint depends on."""

from __future__ import annotations

import functools

import pyarrow as pa
import pytest

from raydata_ext.errors import FingerprintError, PlanError
from raydata_ext.plan import Cast, Filter, Map, RemoveColumns, RenameColumns, SelectColumns, UserFunction


def shout(row):
    return {"text": row["text"].upper()}


class Adder:
    def __init__(self, amount=1):
        self.amount = amount

    def __call__(self, row):
        return {"n": row["n"] + self.amount}


def digest(step):
    return step.fingerprint.digest


def test_the_batch_size_counts_only_where_the_function_sees_it():
    by_row = [digest(Map(UserFunction(shout), batch_size=size)) for size in (10, 20)]
    by_batch = [digest(Map(UserFunction(shout), batched=True, batch_size=size)) for size in (10, 20)]
    assert by_row[0] == by_row[1]
    assert by_batch[0] != by_batch[1]


def test_a_description_is_no_part_of_a_step():
    assert digest(Map(UserFunction(shout))) == digest(Map(UserFunction(shout), desc="loud"))


@pytest.mark.parametrize(
    "other",
    [
        Map(UserFunction(shout, {"limit": 1})),
        Map(UserFunction(shout, {"limit": 2})),
        Map(UserFunction(shout), with_indices=True),
        Map(UserFunction(shout), with_rank=True),
        Map(UserFunction(shout), remove_columns=("n",)),
        Map(UserFunction(shout), input_columns=("text",)),
        Map(UserFunction(shout), schema=pa.schema({"text": pa.string()})),
        Map(UserFunction(shout), batched=True),
        Filter(UserFunction(shout)),
        Map(UserFunction(Adder)),
        Map(UserFunction(Adder, constructor_kwargs={"amount": 2})),
    ],
)
def test_whatever_can_change_a_result_changes_the_fingerprint(other):
    steps = [Map(UserFunction(shout)), other]
    assert len({digest(step) for step in steps}) == 2


def test_a_version_stands_for_the_code():
    one = digest(Map(UserFunction(shout, version="1")))
    assert one == digest(Map(UserFunction(Adder, version="1")))
    assert one != digest(Map(UserFunction(shout, version="2")))


def test_column_steps_count_by_kind_and_names():
    steps = [
        SelectColumns(("a", "b")),
        SelectColumns(("b", "a")),
        RemoveColumns(("a", "b")),
        RenameColumns((("a", "b"),)),
        Cast(pa.schema({"a": pa.int8()})),
        Cast(pa.schema({"a": pa.int16()})),
    ]
    assert len({digest(step) for step in steps}) == len(steps)
    assert digest(SelectColumns(("a", "b"))) == digest(SelectColumns(("a", "b")))


def test_a_step_is_named_as_the_user_named_its_function():
    assert Map(UserFunction(functools.partial(shout))).label == "shout"
    assert Map(UserFunction(Adder)).label == "Adder"
    assert Map(UserFunction(Adder(2))).label == "Adder"
    assert Map(UserFunction(shout), desc="loud").label == "loud"


def test_what_cannot_be_a_step_is_refused_with_its_name():
    with pytest.raises(TypeError, match="must be callable, got 3"):
        UserFunction(3)
    with pytest.raises(PlanError, match="'shout' is a function, not a class"):
        UserFunction(shout, constructor_kwargs={"a": 1})
    with pytest.raises(ValueError, match="batch_size is 0"):
        Map(UserFunction(shout), batched=True, batch_size=0)
    with pytest.raises(PlanError, match="batch_format='numpy' needs batched=True"):
        Map(UserFunction(shout), batch_format="numpy")


def test_code_that_cannot_be_hashed_names_the_step():
    import threading

    lock = threading.Lock()

    def guarded(row):
        with lock:
            return row

    with pytest.raises(FingerprintError, match=r"step `.*guarded`.*lock"):
        digest(Map(UserFunction(guarded)))
    assert digest(Map(UserFunction(guarded, version="1")))
    assert digest(Map(UserFunction(guarded, exclude=("lock",))))


def test_the_order_of_keyword_arguments_does_not_count():
    one, other = {"a": 1, "b": 2}, {"b": 2, "a": 1}
    assert digest(Map(UserFunction(shout, one))) == digest(Map(UserFunction(shout, other)))
