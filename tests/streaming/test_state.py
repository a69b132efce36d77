"""Positions as JSON."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.errors import StateError
from raydata_ext.streaming.state import decode, encode, require_same

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 130), 1 << 130) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_a_position_comes_back_from_json(value):
    text = json.dumps(encode(value))
    assert decode(json.loads(text)) == value


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-(1 << 62), (1 << 62) - 1)))
def test_references_come_back_from_json(values):
    array = np.array(values, np.int64)
    back = decode(json.loads(json.dumps(encode({"buffer": array}))))["buffer"]
    assert back.dtype == np.int64
    assert back.tolist() == values


def test_a_schema_comes_back_from_json():
    schema = pa.schema([("x", pa.list_(pa.int32())), pa.field("y", pa.string(), nullable=False)], metadata={"a": "b"})
    back = decode(json.loads(json.dumps(encode([schema]))))[0]
    assert back.equals(schema, check_metadata=True)


def test_no_integer_is_beyond_what_every_json_reader_takes():
    assert encode({"state": 1 << 53, "small": 7}) == {"state": {"integer": str(1 << 53)}, "small": 7}


def test_references_take_a_few_bytes_each():
    array = np.random.default_rng(0).integers(10**9, 10**9 + 100_000, 10_000)
    assert len(json.dumps(encode(array))) < 35_000


def test_what_differs_is_named():
    with pytest.raises(StateError, match=r"1 Take.count was 4 and is 5; 2 Skip was \{'over': 1\} and is not there"):
        require_same({"1 Take.count": 4, "2 Skip": {"over": 1}}, {"1 Take.count": 5})


def test_a_setting_of_none_is_not_a_setting_that_is_not_there():
    with pytest.raises(StateError, match="times was None and is not there"):
        require_same({"times": None}, {})
