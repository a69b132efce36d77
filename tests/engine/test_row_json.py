"""Rows as JSON to look at."""

from __future__ import annotations

import datetime as dt
import decimal
import json

import numpy as np
import pytest

from raydata_ext.engine.row_json import MOST_BYTES, row_json


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        (True, True),
        (2**53 - 1, 2**53 - 1),
        (2**63, str(2**63)),
        (0.5, 0.5),
        (float("nan"), None),
        ("text", "text"),
        ("\udcff", "\\udcff"),
        (b"\x00\xff", "base64:AP8="),
        ([1, [2], {"a": "b"}], [1, [2], {"a": "b"}]),
        ([("key", 1)], [["key", 1]]),
        (np.arange(3), [0, 1, 2]),
        (dt.date(2020, 1, 2), "2020-01-02"),
        (decimal.Decimal("1.50"), "1.50"),
    ],
)
def test_values_are_what_json_knows(value, shown):
    assert json.loads(row_json({"value": value})) == {"value": shown}


@pytest.mark.parametrize(
    "row",
    [
        {"text": "x" * 1_000_000},
        {f"column {n}": "y" * 500 for n in range(100)},
        {f"column {n}": n for n in range(100_000)},
        {"list": [["deep"] * 1000] * 1000},
        {"bytes": b"\xff" * 10_000_000},
    ],
)
def test_a_large_row_is_short_and_still_json(row):
    text = row_json(row)
    assert len(text) <= MOST_BYTES
    assert json.loads(text)


def test_what_is_left_out_is_said():
    assert json.loads(row_json({"text": "a" * 20_000}))["text"].endswith("... 16000 more characters")
    assert json.loads(row_json({"list": list(range(150))}))["list"][-1] == "... 50 more"


def test_nesting_without_end_ends():
    value: list = []
    for _ in range(500):
        value = [value]
    assert "..." in row_json({"deep": value})
