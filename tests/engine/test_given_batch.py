"""Batches in the formats that functions ask for."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from raydata_ext.engine.given_batch import given_batch, unchanged_as_given
from raydata_ext.formatting import LazyBatch

BATCH = pa.record_batch(
    {
        "n": [1, 2, None],
        "x": [0.5, float("nan"), None],
        "text": ["a", "b", "c"],
        "ragged": [[1], None, [2, 3]],
        "s": [{"a": 1}, {"a": 2}, None],
        "whole": [1, 2, 3],
    }
)


def test_each_format_is_what_its_users_know():
    assert given_batch(BATCH, "python", None)["n"] == [1, 2, None]
    assert given_batch(BATCH, "arrow", None).select(["text", "s"]).equals(pa.table(BATCH).select(["text", "s"]))
    assert list(given_batch(BATCH, "pandas", None).columns) == BATCH.schema.names
    assert isinstance(given_batch(BATCH, "numpy", None)["whole"], np.ndarray)
    assert isinstance(given_batch(BATCH, "pandas", ["n"]), pd.DataFrame)


def test_a_data_frame_has_only_the_columns_that_will_be_asked_for():
    assert list(given_batch(BATCH, "pandas", ["text", "n"]).columns) == ["text", "n"]


@pytest.fixture(params=["numpy", "torch"])
def batch(request):
    if request.param == "torch":
        pytest.importorskip("torch")
    return given_batch(BATCH, request.param, None)


def test_arrays_are_converted_when_asked_for(batch):
    assert isinstance(batch, LazyBatch)
    assert batch.touched == frozenset()
    assert batch["text"] is batch["text"]
    assert batch.touched == {"text"}


def test_arrays_that_were_only_read_are_not_changes(batch):
    assert len(dict(batch)) == 6
    assert batch.changes() == {}
    assert copy.copy(batch).changes() == {}


def test_maps_that_were_only_read_are_not_changes():
    kind = pa.map_(pa.string(), pa.list_(pa.float64()))
    batch = given_batch(pa.record_batch({"m": pa.array([[("a", [float("nan"), 1.0])]], kind)}), "numpy", None)
    assert len(dict(batch)) == 1
    assert batch.changes() == {}


def test_series_that_hold_what_was_given_are_the_arrow_arrays_again():
    frame = given_batch(BATCH, "pandas", None)
    columns = unchanged_as_given(BATCH, {**frame, "text": frame["text"].str.upper(), "new": frame["n"], "l": [1, 2, 3]})
    same = [name for name in BATCH.schema.names if columns[name] is not frame[name] and name != "text"]
    assert same == ["n", "x", "ragged", "s", "whole"]
    assert all(columns[name].equals(BATCH.column(name)) for name in ("n", "ragged", "s", "whole"))
    assert columns["text"].tolist() == ["A", "B", "C"]
    assert columns["new"].equals(frame["n"])
    assert columns["l"] == [1, 2, 3]


@pytest.mark.parametrize(
    "change", [lambda f: f.iloc[::-1], lambda f: f[:2], lambda f: f.assign(ragged=[[1], None, [2]])]
)
def test_series_that_hold_something_else_stay(change):
    ragged = change(given_batch(BATCH, "pandas", None))["ragged"]
    assert unchanged_as_given(BATCH, {"ragged": ragged})["ragged"] is ragged


@pytest.mark.parametrize("name", ["text", "ragged"])
def test_an_object_that_is_replaced_in_place_is_a_change(batch, name):
    batch[name][0] = batch[name][2]
    assert list(batch.changes()) == [name]


def test_a_number_that_is_masked_in_place_is_a_change():
    batch = given_batch(BATCH, "numpy", None)
    batch["n"][1] = np.ma.masked
    assert list(batch.changes()) == ["n"]


def test_a_tensor_that_is_changed_in_place_is_a_change():
    pytest.importorskip("torch")
    batch = given_batch(BATCH, "torch", None)
    batch["whole"].mul_(2)
    batch["s"][0]["a"] += 1
    assert list(batch.changes()) == ["whole", "s"]


def test_views_of_arrow_memory_cannot_be_written_to():
    whole = given_batch(BATCH, "numpy", None)["whole"]
    with pytest.raises(ValueError, match="read-only"):
        whole[0] = 7
