"""A lazy row must behave as the dictionary that it stands for; the dictionary itself is the model."""

from __future__ import annotations

import copy
import json
import pickle

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.formatting import LazyBatch, LazyRow

BATCH = pa.record_batch({"a": [1, 2], "text": ["x", "y"], "tags": [["p"], []]})
ROW = {"a": 1, "text": "x", "tags": ["p"]}
COLUMNS = {"a": [1, 2], "text": ["x", "y"], "tags": [["p"], []]}


@pytest.fixture(params=["row", "batch"])
def lazy_and_dict(request):
    if request.param == "row":
        return LazyRow(BATCH, 0), copy.deepcopy(ROW)
    return LazyBatch(BATCH), copy.deepcopy(COLUMNS)


keys = st.sampled_from(["a", "text", "tags", "new", "other"])
operations = st.one_of(
    st.tuples(st.just("set"), keys, st.integers()),
    st.tuples(st.just("delete"), keys),
    st.tuples(st.just("pop"), keys),
    st.tuples(st.just("get"), keys),
    st.tuples(st.just("setdefault"), keys, st.integers()),
    st.tuples(st.just("update"), st.dictionaries(keys, st.integers())),
    st.tuples(st.just("copy")),
    st.tuples(st.just("clear")),
)


def apply(mapping, operation):
    """The mapping afterwards, and what the operation answered."""
    name, *arguments = operation
    if name == "set":
        return mapping, mapping.__setitem__(*arguments)
    if name == "delete":
        try:
            return mapping, mapping.__delitem__(*arguments)
        except KeyError as error:
            return mapping, repr(error)
    if name == "pop":
        return mapping, mapping.pop(*arguments, "absent")
    if name == "copy":
        return mapping.copy(), None
    return mapping, getattr(mapping, name)(*arguments)


@settings(deadline=None)
@given(st.lists(operations, max_size=12))
def test_any_series_of_operations_leaves_the_same_as_on_a_dict(series):
    row, model = LazyRow(BATCH, 0), copy.deepcopy(ROW)

    for operation in series:
        row, answer = apply(row, operation)
        model, expected = apply(model, operation)
        assert answer == expected
        assert list(row.items()) == list(model.items()), "the order of keys too"
        assert len(row) == len(model)

    rebuilt = {key: value for key, value in ROW.items() if key not in row.deleted}
    assert rebuilt | row.changes() == model, "deleted and changes() tell the whole story"


def test_reading_it_is_like_reading_a_dict(lazy_and_dict):
    lazy, plain = lazy_and_dict

    assert dict(lazy) == plain
    assert {**lazy} == plain
    assert lazy == plain
    assert plain == lazy
    assert lazy != {**plain, "a": 0}
    assert repr(lazy) == repr(plain)
    assert "text" in lazy
    assert "nothing" not in lazy
    assert 0 not in lazy
    assert lazy.get("nothing", 5) == 5
    assert list(lazy) == list(plain)
    assert list(lazy.values()) == list(plain.values())
    assert json.loads(json.dumps(dict(lazy))) == plain


def test_a_missing_key_is_a_key_error_that_names_it(lazy_and_dict):
    lazy, _ = lazy_and_dict

    with pytest.raises(KeyError, match="nothing"):
        lazy["nothing"]
    with pytest.raises(KeyError):
        lazy[0]  # a column is not found by its position
    del lazy["a"]
    with pytest.raises(KeyError, match="a"):
        lazy["a"]


def test_the_union_operator_takes_either_side_and_leaves_both_as_they_were(lazy_and_dict):
    lazy, plain = lazy_and_dict

    assert lazy | {"a": 0, "new": 1} == plain | {"a": 0, "new": 1}
    assert {"a": 0, "new": 1} | lazy == {"a": 0, "new": 1} | plain
    assert list({"new": 1} | lazy) == ["new", *plain]
    assert lazy | lazy == plain
    assert lazy == plain
    lazy |= {"new": 1}
    assert lazy == plain | {"new": 1}
    with pytest.raises(TypeError):
        lazy | 5


def test_a_union_stays_lazy():
    row = LazyRow(BATCH, 0)

    joined = row | {"new": 1}

    assert joined.touched == frozenset()
    assert joined.changes() == {"new": 1}


def test_a_pickle_and_a_deep_copy_are_plain_dicts(lazy_and_dict):
    lazy, plain = lazy_and_dict
    lazy["new"] = 1

    assert type(pickle.loads(pickle.dumps(lazy))) is dict
    assert pickle.loads(pickle.dumps(lazy)) == plain | {"new": 1}
    assert copy.deepcopy(lazy) == plain | {"new": 1}


def test_changing_a_copy_leaves_the_original(lazy_and_dict):
    lazy, plain = lazy_and_dict
    for twin in (lazy.copy(), copy.copy(lazy)):
        twin["new"] = 1
        del twin["a"]

    assert lazy == plain
    assert type(lazy.copy()) is type(lazy)


def test_nothing_is_converted_until_it_is_looked_at(lazy_and_dict):
    lazy, _ = lazy_and_dict

    assert "text" in lazy
    assert len(lazy) == 3
    lazy["a"] = 0
    lazy["new"] = 1
    del lazy["tags"]
    assert lazy.touched == frozenset()
    assert lazy["text"]
    assert lazy.touched == {"text"}
    assert lazy.changes() == {"a": 0, "new": 1}
    assert lazy.deleted == {"tags"}


def test_a_column_set_again_after_its_deletion_is_changed_and_not_deleted(lazy_and_dict):
    lazy, _ = lazy_and_dict
    del lazy["a"]
    lazy["a"] = 7

    assert lazy.deleted == frozenset()
    assert lazy.changes() == {"a": 7}
    assert list(lazy) == ["text", "tags", "a"]
