"""Batched functions that are given data frames of pandas."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from raydata_ext.dataset import Dataset

FRAME_SCHEMA = pa.schema(
    {
        "x": pa.float64(), "day": pa.date64(), "price": pa.decimal128(10, 2), "wide": pa.large_binary(),
        "pair": pa.list_(pa.int16(), 2), "map": pa.map_(pa.string(), pa.float32()), "s": pa.struct({"n": pa.int32()}),
        "kind": pa.dictionary(pa.int8(), pa.string()), "times": pa.list_(pa.timestamp("ms", "Europe/Berlin")),
    }
)  # fmt: skip
FRAME_ROW = {
    "x": float("nan"), "day": dt.date(2020, 1, 1), "price": Decimal("1.50"), "wide": b"a", "pair": [1, None],
    "map": [("a", 1.5), ("b", None)], "s": {"n": 1}, "kind": "k",
    "times": [dt.datetime(2020, 1, 1, tzinfo=dt.timezone.utc)],
}  # fmt: skip


@pytest.fixture
def mapped(tmp_path):
    def run(columns, function, schema=None, **arguments):
        source = Dataset.from_dict(columns, schema=schema, cache_dir=tmp_path / "cache")
        return source.map(function, executor="inline", batched=True, batch_format="pandas", **arguments)

    return run


def test_pandas_batches_are_frames(mapped):
    def shift(frame):
        assert isinstance(frame, pd.DataFrame)
        frame["m"] = frame["n"] * 2
        return frame

    result = mapped({"n": [1, 2]}, shift)
    assert result.to_dict() == {"n": [1, 2], "m": [2, 4]}


def test_a_frame_that_is_changed_in_place_counts_if_nothing_is_returned(mapped):
    def change(frame):
        frame["n"] += 1
        frame["new"] = "x"

    columns = {"n": [1, 2], "text": ["a", "b"]}
    assert mapped(columns, change).to_dict() == {"n": [2, 3], "text": ["a", "b"], "new": ["x", "x"]}
    result = mapped(columns, change, remove_columns="text")
    assert result.to_dict() == {"n": [2, 3], "new": ["x", "x"]}


@pytest.mark.parametrize(
    "function",
    [
        lambda frame: frame,
        lambda frame: frame.assign(new=1),
        lambda frame: {name: frame[name] for name in frame},
        lambda frame: frame[frame["s"].notna()],
        lambda frame: None,
    ],
    ids=["same", "added", "series", "filtered", "none"],
)
def test_columns_of_a_frame_keep_their_types_and_values(mapped, function):
    rows = {name: [value, None] for name, value in FRAME_ROW.items()}
    result = mapped(rows, function, FRAME_SCHEMA)
    assert result.schema.remove_metadata().types[: len(FRAME_SCHEMA)] == FRAME_SCHEMA.types
    if len(result) == 2:  # pandas makes a null of a NaN where a series is another one than before
        assert np.isnan(result["x"][0])
    assert {**result[0], "x": None, "new": None} == {**FRAME_ROW, "x": None, "new": None}


def test_integers_in_lists_with_nulls_are_exact_in_what_is_made_of_them(mapped):
    big = 2**53 + 1
    result = mapped(
        {"l": [[big, None], [1]]}, lambda frame: {"copy": frame["l"], "first": [items[0] for items in frame["l"]]}
    )
    assert result["copy"] == [[big, None], [1]]
    assert result["first"] == [big, 1]
