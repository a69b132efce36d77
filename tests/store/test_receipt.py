from __future__ import annotations

import base64
import dataclasses
import json
import pickle

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydata_ext.errors import StoreError
from raydata_ext.store.receipt import Receipt, check_key, schema_from_text, schema_to_text

KEY = "0123456789abcdef0123456789abcdef"
CHECKSUM = "f" * 32
SCHEMA = pa.schema([pa.field("ids", pa.list_(pa.int32()), nullable=False)], metadata={"huggingface": "{}"})

RECEIPT = Receipt(
    key=KEY,
    rows=3,
    num_bytes=1000,
    checksum=CHECKSUM,
    schema=SCHEMA,
    rows_in=6,
    filtered={"too short": 1, "": 1},
    quarantined=1,
    inputs=({"path": "a.jsonl", "range": [0, 10]},),
    steps=({"name": "tokenize", "rows_in": 6, "rows_out": 3, "seconds": 0.5},),
    seconds=1.5,
    attempt=2,
    worker="host:12",
    created=1700000000.25,
)


def test_a_receipt_is_the_same_after_writing_and_reading():
    again = Receipt.from_json(RECEIPT.to_json())
    assert again == dataclasses.replace(RECEIPT, file=f"{KEY}.arrow")
    assert again.schema.equals(SCHEMA, check_metadata=True)


def test_a_receipt_is_plain_json():
    content = json.loads(RECEIPT.to_json())
    assert content["version"] == 1
    assert content["key"] == KEY
    assert content["filtered"] == {"too short": 1, "": 1}


def test_what_a_later_version_adds_to_a_receipt_is_no_damage():
    content = {**json.loads(RECEIPT.to_json()), "mood": "good"}
    assert Receipt.from_json(json.dumps(content)).key == KEY


def test_a_receipt_can_be_pickled():
    assert pickle.loads(pickle.dumps(RECEIPT)) == RECEIPT


text = st.text(max_size=8)
counts = st.integers(0, 2**53)


@given(
    rows=counts,
    filtered=st.dictionaries(text, counts, max_size=3),
    inputs=st.lists(st.dictionaries(text, st.one_of(text, counts, st.none(), st.lists(counts))), max_size=2).map(tuple),
    seconds=st.floats(0, 1e9),
)
def test_whatever_a_receipt_counts_and_names_survives(**fields):
    receipt = dataclasses.replace(RECEIPT, **fields)
    assert Receipt.from_json(receipt.to_json()) == dataclasses.replace(receipt, file=f"{KEY}.arrow")


@pytest.mark.parametrize(
    "key", ["", "abc", "../" + "a" * 29, KEY.upper(), KEY + "\n", KEY[:-1] + "g", KEY + "0", None, 5, "٣" * 32]
)
def test_a_key_is_thirty_two_hex_digits_and_nothing_else(key):
    with pytest.raises(ValueError, match="32 lower-case hex digits"):
        check_key(key)


@pytest.mark.parametrize(
    "fields",
    [
        {"key": "x"},
        {"checksum": "x"},
        {"rows": -1},
        {"num_bytes": 1.5},
        {"quarantined": -1},
        {"file": "../../etc/passwd"},
        {"file": "0" * 32 + ".arrow"},
    ],
)
def test_a_receipt_with_an_impossible_field_is_refused(fields):
    with pytest.raises(ValueError, match="must be"):
        dataclasses.replace(RECEIPT, **fields)


def _changed(**fields):
    return json.dumps({**json.loads(RECEIPT.to_json()), **fields}).encode()


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        RECEIPT.to_json()[:-20],
        b"[]",
        b"null",
        b"\xff\xfe",
        _changed(version=2),
        _changed(version=None),
        _changed(schema="!!!"),
        _changed(schema=base64.b64encode(b"no schema").decode()),
        _changed(schema=None),
        _changed(rows="3"),
        _changed(rows=-3),
        _changed(inputs=None),
        _changed(file="../x.arrow"),
        json.dumps({"version": 1}).encode(),
    ],
)
def test_a_damaged_receipt_is_a_store_error(damaged):
    with pytest.raises(StoreError, match="the receipt is"):
        Receipt.from_json(damaged)


def test_receipts_of_one_schema_share_it():
    assert Receipt.from_json(RECEIPT.to_json()).schema is Receipt.from_json(RECEIPT.to_json()).schema


def test_a_schema_keeps_metadata_and_nullability_as_text():
    assert schema_from_text(schema_to_text(SCHEMA)).equals(SCHEMA, check_metadata=True)
    assert schema_from_text(schema_to_text(SCHEMA)).field("ids").nullable is False


def test_a_value_that_is_no_json_is_named_by_its_type():
    with pytest.raises(TypeError, match="not JSON serializable: set"):
        dataclasses.replace(RECEIPT, inputs=({"path": {1, 2}},)).to_json()
