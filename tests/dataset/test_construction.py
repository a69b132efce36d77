"""Data sets of what users have in memory or on disk."""

from __future__ import annotations

import datetime as dt

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from raydata_ext.dataset import Dataset
from raydata_ext.errors import CorruptFileError, SchemaError


def test_columns_may_be_lists_and_arrays_of_any_kind():
    dataset = Dataset.from_dict(
        {
            "a": [1, 2],
            "b": np.array([[1.0], [2.0]], np.float32),
            "c": pd.Series(["x", None]),
            "d": pa.array([True, False]),
        }
    )
    assert dataset.to_list() == [{"a": 1, "b": [1.0], "c": "x", "d": True}, {"a": 2, "b": [2.0], "c": None, "d": False}]
    assert dataset.schema.field("b").type.value_type == pa.float32()


def test_token_columns_take_the_types_that_they_have_in_hugging_face():
    columns = {"input_ids": [[1, 2]], "attention_mask": [[1, 1]], "n": [1]}
    ours, theirs = Dataset.from_dict(columns), datasets.Dataset.from_dict(columns)
    assert ours.schema.types == theirs.data.schema.types


@pytest.mark.parametrize(
    "schema",
    [pa.schema([("when", pa.timestamp("s")), ("n", pa.int8()), ("missing", pa.string())])],
)
def test_a_schema_rules(schema):
    dataset = Dataset.from_dict({"n": [1], "when": [dt.datetime(2024, 1, 1)]}, schema=schema)  # noqa: DTZ001
    assert dataset.schema.equals(schema)
    assert dataset[0] == {"when": dt.datetime(2024, 1, 1), "n": 1, "missing": None}  # noqa: DTZ001


def test_features_are_a_schema():
    features = datasets.Features({"label": datasets.ClassLabel(names=["no", "yes"])})
    frame = pd.DataFrame({"label": [0, 1]})
    for made in (
        Dataset.from_dict({"label": [0, 1]}, schema=features),
        Dataset.from_dict({"label": [0, 1]}, features),
        Dataset.from_list([{"label": 0}], features=features),
        Dataset.from_pandas(frame, features=features),
        Dataset.from_generator(lambda: iter([{"label": 0}]), features=features),
    ):
        assert made.features["label"].names == ["no", "yes"]
    with pytest.raises(ValueError, match="features and schema mean the same"):
        Dataset.from_dict({"label": [0]}, features, schema=features)


@pytest.mark.parametrize("columns", [{"a": [1], "b": [1, 2]}, {"a": [1, "x"]}])
def test_columns_that_do_not_go_together_are_errors(columns):
    with pytest.raises(SchemaError, match="'a'"):
        Dataset.from_dict(columns)


def test_no_columns_are_no_rows():
    assert len(Dataset.from_dict({})) == len(Dataset.from_list([])) == 0


def test_a_key_that_only_a_later_row_has_is_a_column():
    dataset = Dataset.from_list([{"a": 1}, {"a": 2, "b": "x"}, {}])
    assert dataset.to_list() == [{"a": 1, "b": None}, {"a": 2, "b": "x"}, {"a": None, "b": None}]


def test_pandas_frames_come_and_go():
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=[5, 7])
    dataset = Dataset.from_pandas(frame)
    pd.testing.assert_frame_equal(dataset.to_pandas(), frame)
    assert Dataset.from_pandas(frame, preserve_index=False).column_names == ["a", "b"]


def test_arrow_data_comes_uncopied_from_whatever_hands_it_out(dataset):
    table = pa.table({"a": [1, 2]})
    for given in (table, table.to_batches()[0], Dataset.from_arrow(table)):
        made = Dataset.from_arrow(given)
        assert made.to_arrow().column("a").chunk(0).buffers()[1].address == table["a"].chunk(0).buffers()[1].address
    assert Dataset.from_arrow(dataset).to_list() == dataset.to_list()


def test_a_file_of_hugging_face_is_mapped_as_it_is(rows, tmp_path):
    datasets.Dataset.from_list(rows).save_to_disk(str(tmp_path / "hf"))
    (path,) = (tmp_path / "hf").glob("*.arrow")
    dataset = Dataset.from_file(path)
    assert dataset.cache_files == [{"filename": str(path)}]
    assert dataset.to_list() == rows


def test_a_file_of_ours_opens_in_hugging_face(any_dataset, tmp_path):
    mapped = any_dataset.map(lambda row: {"n": 1})
    theirs = datasets.concatenate_datasets(
        [datasets.Dataset.from_file(file["filename"]) for file in mapped.cache_files]
    )
    assert theirs.to_list() == mapped.to_list()


def test_a_file_that_is_none_is_an_error(tmp_path):
    (tmp_path / "x.arrow").write_bytes(b"nothing")
    with pytest.raises(CorruptFileError):
        Dataset.from_file(tmp_path / "x.arrow")
    with pytest.raises(FileNotFoundError):
        Dataset.from_file(tmp_path / "y.arrow")


def test_two_columns_of_one_name_are_refused_since_a_row_could_not_hold_both(tmp_path):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pa.ipc.new_stream(tmp_path / "twice.arrow", table.schema) as file:
        file.write_table(table)
    for make in (lambda: Dataset.from_arrow(table), lambda: Dataset.from_file(tmp_path / "twice.arrow")):
        with pytest.raises(SchemaError, match=r"more than one column is named 'a'.*rename or drop one"):
            make()
