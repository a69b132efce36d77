"""Choosing, naming and changing columns without touching files."""

from __future__ import annotations

import pickle

import datasets
import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.dataset import Dataset
from raydata_ext.errors import SchemaError


def test_columns_are_chosen_left_out_and_named(any_dataset):
    assert any_dataset.select_columns(["text", "id"])[3] == {"text": "row 3", "id": 3}
    assert any_dataset.remove_columns("tokens").column_names == ["id", "text"]
    assert any_dataset.rename_column("id", "number")[3] == {"number": 3, "text": "row 3", "tokens": [0, 1, 2]}
    swapped = any_dataset.rename_columns({"id": "text", "text": "id"})
    assert swapped[3] == {"text": 3, "id": "row 3", "tokens": [0, 1, 2]}


def test_no_file_is_written_for_it_and_the_change_travels_as_a_recipe(dataset, tmp_path):
    changed = dataset.rename_column("id", "n").select_columns(["tokens", "n"]).cast_column("n", pa.int16())
    assert changed.cache_files == dataset.cache_files
    travelled = pickle.loads(pickle.dumps(changed))
    assert travelled.schema == changed.schema == pa.schema([("tokens", pa.list_(pa.int32())), ("n", pa.int16())])
    assert travelled[7] == {"tokens": [0, 1, 2], "n": 7}
    assert not (tmp_path / "cache").exists()


def test_later_steps_see_the_changed_columns(any_dataset):
    changed = any_dataset.rename_column("id", "n").remove_columns("text")
    assert changed.map(lambda row: {"m": row["n"] + 1})[3] == {"n": 3, "tokens": [0, 1, 2], "m": 4}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.select_columns("body"), "no column 'body'"),
        (lambda d: d.remove_columns(["id", "body"]), "no column 'body'"),
        (lambda d: d.select_columns(["id", "id"]), "two columns 'id'"),
        (lambda d: d.rename_column("body", "x"), "no column 'body'"),
        (lambda d: d.rename_column("id", "text"), "two columns 'text'"),
        (lambda d: d.rename_column("id", ""), "must not be empty"),
        (lambda d: d.cast_column("body", pa.int8()), "no column 'body'"),
        (lambda d: d.add_column("id", [0] * 23), "two columns 'id'"),
        (lambda d: d.add_column("n", [0] * 22), "22 values for 23 rows"),
        (lambda d: d.flatten(max_depth=0), "max_depth is 0"),
    ],
)
def test_what_does_not_fit_is_named(dataset, change, message):
    with pytest.raises(ValueError, match=message):
        change(dataset)


def test_types_are_changed_in_the_order_of_the_schema(any_dataset):
    schema = pa.schema([("text", pa.large_string()), ("id", pa.float64()), ("tokens", pa.list_(pa.int8()))])
    changed = any_dataset.cast(schema)
    assert changed.schema.equals(schema)
    assert changed[3] == {"text": "row 3", "id": 3.0, "tokens": [0, 1, 2]}


def test_a_type_that_a_value_does_not_fit_is_an_error(any_dataset):
    with pytest.raises(SchemaError, match="text"):
        any_dataset.cast_column("text", pa.int64()).to_list()
    with pytest.raises(
        SchemaError, match=r"columns do not match: missing \[\], not in the target schema \['tokens', 'text'\]"
    ):
        any_dataset.cast(pa.schema([("id", pa.int64())]))


@pytest.mark.parametrize(
    "values", [list(range(23)), np.arange(23), pa.array(range(23)), pa.chunked_array([[0], range(1, 23)])]
)
def test_a_column_is_added(any_dataset, rows, values):
    added = any_dataset.add_column("n", values)
    assert list(added) == [{**row, "n": row["id"]} for row in rows]
    assert list(any_dataset.shuffle(seed=1).add_column("n", values)["n"]) == list(range(23))
    assert added.map(lambda row: {"m": row["n"] + row["id"]})[4]["m"] == 8
    assert any_dataset.add_column("n", values, feature=pa.int8()).schema.field("n").type == pa.int8()


def test_an_added_column_counts_in_the_fingerprint_and_in_what_follows(dataset):
    first, second = dataset.add_column("n", [0] * 23), dataset.add_column("n", [1] * 23)
    assert first.fingerprint != second.fingerprint
    assert [one.map(lambda row: {"m": row["n"]})[0]["m"] for one in (first, second)] == [0, 1]


NESTED = pa.array(
    [{"x": 1, "y": {"z": "a", "w": [1]}}, None],
    pa.struct([("x", pa.int64()), ("y", pa.struct([("z", pa.string()), ("w", pa.list_(pa.int64()))]))]),
)


@pytest.mark.parametrize("depth", [1, 2, 16])
def test_structs_become_columns_as_in_hugging_face(depth):
    table = pa.table({"s": NESTED, "n": [1, 2]})
    ours, theirs = (
        Dataset.from_arrow(table).flatten(depth),
        datasets.Dataset(table).flatten(max_depth=max(2, depth + 1)),
    )
    assert ours.column_names == theirs.column_names
    assert ours.to_list() == theirs.to_list()


def test_the_fingerprint_tells_changes_apart(dataset):
    made = [
        dataset,
        dataset.rename_column("id", "n"),
        dataset.rename_column("id", "m"),
        dataset.remove_columns("id"),
        dataset.select_columns(["tokens", "text"]),
        dataset.cast_column("id", pa.int32()),
        dataset.cast_column("id", pa.int16()),
    ]
    assert len({one.fingerprint for one in made}) == len(made)
    assert dataset.remove_columns("id").fingerprint == dataset.select_columns(["text", "tokens"]).fingerprint


@pytest.mark.parametrize("include_nulls", [False, True])
@pytest.mark.parametrize(
    "values", [["b", "a", None, "b"], [10, 9, 9, None], [True, None, False, True], [0.5, 2.0, None, 2.0]]
)
def test_values_become_classes_as_in_hugging_face(values, include_nulls):
    columns = {"y": values, "n": list(range(len(values)))}
    ours = Dataset.from_dict(columns).class_encode_column("y", include_nulls)
    theirs = datasets.Dataset.from_dict(columns).class_encode_column("y", include_nulls)
    assert ours.features["y"].names == theirs.features["y"].names
    assert ours.to_list() == list(theirs)


def test_classes_are_those_of_the_rows_that_there_are(any_dataset):
    encoded = any_dataset.select([22, 3]).class_encode_column("text")
    assert encoded.features["text"].int2str(encoded["text"][:]) == ["row 22", "row 3"]
    assert encoded.column_names == any_dataset.column_names
