"""Computing with rows: map, filter, and rows written out."""

from __future__ import annotations

from pathlib import Path

import datasets
import pyarrow as pa
import pytest

from raydata_ext import Workers
from raydata_ext.dataset import Dataset
from raydata_ext.dataset.transforms import MIN_ROW_BYTES_FOR_INDICES
from raydata_ext.errors import QuarantineError, StepError


def double(row):
    return {"double": 2 * row["id"]}


def is_odd(row):
    return row["id"] % 2 == 1


@pytest.fixture
def wide(tmp_path):
    """A thousand rows of so many bytes that a filter writes none of them, in a file."""
    filler = "x" * MIN_ROW_BYTES_FOR_INDICES
    in_memory = Dataset.from_dict({"id": list(range(1000)), "filler": [filler] * 1000}, cache_dir=tmp_path / "cache")
    in_memory.save_to_disk(tmp_path / "wide", executor="inline")
    return Dataset.from_file(next((tmp_path / "wide").glob("*.arrow")), cache_dir=tmp_path / "cache")


def test_map_sees_the_rows_in_their_order(any_dataset, rows):
    shuffled = any_dataset.select([5, 3, 5])
    assert list(shuffled.map(double)) == [{**rows[number], "double": 2 * number} for number in (5, 3, 5)]


def test_map_takes_the_arguments_of_hugging_face(any_dataset, rows):
    arguments = {
        "with_indices": True,
        "batched": True,
        "batch_size": 30,
        "remove_columns": ["tokens"],
        "fn_kwargs": {"factor": 3},
        "desc": "multiply",
    }

    def multiply(batch, indices, factor):
        return {"product": [factor * number + index for number, index in zip(batch["id"], indices, strict=True)]}

    ours = any_dataset.map(multiply, **arguments, load_from_cache_file=True, num_proc=2, executor="inline")
    theirs = datasets.Dataset.from_list(rows).map(multiply, **arguments)
    assert ours.to_list() == theirs.to_list()


def test_rows_are_numbered_over_all_shards_and_in_the_order_they_have(dataset):
    numbered = dataset.map(lambda row, index: {"n": index}, with_indices=True)
    assert numbered["n"] == list(range(23))
    assert dataset.shuffle(seed=1).map(lambda row, index: {"n": index}, with_indices=True)["n"] == list(range(23))


def test_types_may_be_given_as_schema_or_features(dataset):
    for types in (
        {"schema": pa.schema([("double", pa.int8())])},
        {"features": pa.schema([("double", pa.int8())])},
        {"features": {"double": {"_type": "Value", "dtype": "int8"}}},
    ):
        mapped = dataset.map(double, remove_columns=dataset.column_names, **types)
        assert mapped.schema.field("double").type == pa.int8()


def test_unknown_arguments_are_type_errors(dataset):
    with pytest.raises(TypeError, match="cache_file_name"):
        dataset.map(double, cache_file_name="x")
    with pytest.raises(ValueError, match="give one of them"):
        dataset.map(double, workers=Workers(1), num_proc=1)


class Counted:
    """Writes a letter to a file each time that it is called."""

    def __init__(self, path):
        self.path = path

    def __call__(self, row):
        with Path(self.path).open("a") as file:
            file.write(".")
        return {"double": 2 * row["id"]}

    def __fingerprint__(self):
        return "counted"


@pytest.fixture
def counted(tmp_path):
    path = tmp_path / "calls"
    path.touch()
    return Counted(path), lambda: len(path.read_text())


def test_a_result_is_found_again_whatever_way_the_rows_were_chosen(any_dataset, counted):
    function, calls = counted
    first = any_dataset.shuffle(seed=1).map(function)
    again = any_dataset.shuffle(seed=1).map(function)
    assert calls() == 23
    assert (first.to_list(), first.fingerprint) == (again.to_list(), again.fingerprint)
    any_dataset.shuffle(seed=2).map(function)
    assert calls() == 46, "another order is another input"


def test_a_result_may_be_computed_anew(any_dataset, counted):
    function, calls = counted
    any_dataset.map(function)
    anew = any_dataset.map(function, load_from_cache_file=False)
    assert calls() == 46
    assert list(anew["double"]) == [2 * number for number in range(23)]
    any_dataset.map(function)
    assert calls() == 46


def test_a_result_in_memory_leaves_nothing_in_the_cache(any_dataset, tmp_path):
    kept = any_dataset.map(double, keep_in_memory=True)
    assert list(kept["double"]) == [2 * number for number in range(23)]
    assert kept.cache_files == []
    assert not list((tmp_path / "cache").rglob("*.arrow"))
    assert kept.fingerprint == any_dataset.map(double).fingerprint


def test_the_fingerprint_of_a_result_may_be_chosen(dataset):
    assert dataset.map(double, new_fingerprint="mine").fingerprint == "mine"
    assert dataset.filter(is_odd, new_fingerprint="mine").fingerprint == "mine"


def test_bad_rows_may_be_set_aside(any_dataset):
    def invert(row):
        return {"inverse": 1 / (row["id"] % 10)}

    with pytest.raises(StepError, match="ZeroDivisionError"):
        any_dataset.map(invert)
    kept = any_dataset.map(invert, on_error="quarantine")
    assert list(kept["id"]) == [number for number in range(23) if number % 10]
    with pytest.raises(QuarantineError, match="max_errors is 2"):
        any_dataset.map(invert, on_error="quarantine", max_errors=2)


def test_filter_keeps_rows_in_their_order(any_dataset, rows):
    assert list(any_dataset.filter(is_odd)) == [row for row in rows if row["id"] % 2]
    chosen = any_dataset.select([5, 4, 3, 5]).filter(lambda number: number > 3, input_columns="id")
    assert chosen["id"] == [5, 4, 5]
    assert any_dataset.filter(lambda ids: [n > 20 for n in ids], input_columns="id", batched=True)["id"] == [21, 22]
    assert any_dataset.filter(lambda row, index: index < 2, with_indices=True)["id"] == [0, 1]


def test_filter_writes_small_rows_and_no_large_ones(dataset, wide):
    small, large = dataset.filter(is_odd), wide.filter(is_odd)
    assert small.parts.indices is None
    assert small.cache_files != dataset.cache_files
    assert large.parts.indices.rows.tolist() == list(range(1, 1000, 2))
    assert large.cache_files == wide.cache_files
    assert large["id"] == list(range(1, 1000, 2))
    assert large.filter(lambda row: row["id"] > 990)["id"] == [991, 993, 995, 997, 999]
    assert large.map(double)["double"][:3] == [2, 6, 10]


def test_a_filter_that_leaves_a_run_of_rows_needs_no_mapping(wide):
    assert wide.filter(lambda row: row["id"] >= 400).parts.indices is None
    assert wide.filter(lambda row: row["id"] >= 400)["id"] == list(range(400, 1000))
    nothing = wide.filter(lambda row: False)
    assert (len(nothing), nothing.schema) == (0, wide.schema)
    assert wide.filter(lambda row: True).to_list() == wide.to_list()


def test_a_filter_over_several_files_and_a_shuffle_keeps_the_right_rows(wide):
    from raydata_ext.dataset import concatenate_datasets

    twice = concatenate_datasets([wide, wide])
    assert twice.filter(lambda row: row["id"] in (3, 7))["id"] == [3, 7, 3, 7]
    shuffled = twice.shuffle(seed=1)
    expected = [number for number in shuffled["id"] if number % 100 == 0]
    assert list(shuffled.filter(lambda row: row["id"] % 100 == 0)["id"]) == expected


def test_filters_are_told_apart_and_found_again(wide):
    first, second = wide.filter(is_odd), wide.filter(lambda row: row["id"] % 2 == 0)
    assert first.fingerprint == wide.filter(is_odd).fingerprint != second.fingerprint


def test_rows_of_a_mapping_can_be_written_out(any_dataset, rows):
    written = any_dataset.select([3, 1]).flatten_indices(executor="inline")
    assert written.parts.indices is None
    assert len(written.cache_files) == 1
    assert list(written) == [rows[3], rows[1]]
    assert any_dataset.with_format("numpy").select([3, 1]).flatten_indices().format["type"] == "numpy"


def test_the_result_is_the_same_on_ray(ray_session, dataset):
    shuffled = dataset.shuffle(seed=1)
    inline = shuffled.map(double, load_from_cache_file=False, executor="inline")
    on_ray = shuffled.map(double, load_from_cache_file=False, executor="ray", workers=1)
    assert on_ray.to_list() == inline.to_list()
    assert on_ray.fingerprint == inline.fingerprint
