from __future__ import annotations

import json

import pyarrow as pa
import pytest

from raydata_ext.errors import StoreError
from raydata_ext.store.huggingface_files import DatasetState, FormatState, dataset_info_json, split_names


def test_a_state_is_the_same_after_writing_and_reading():
    shown = FormatState("torch", ("a", "b"), {"device": "cpu"}, output_all_columns=True)
    state = DatasetState(("data-00000-of-00001.arrow",), "f" * 16, "train", shown)
    assert DatasetState.from_json(state.to_json()) == state


def test_a_state_of_an_older_version_without_the_later_keys_is_read():
    text = json.dumps({"_data_files": [{"filename": "dataset.arrow"}], "_fingerprint": "f", "_indices_files": None})
    assert DatasetState.from_json(text) == DatasetState(("dataset.arrow",), "f")


def test_features_are_in_the_order_of_the_columns():
    text = dataset_info_json(pa.schema([("z", pa.int64()), ("a", pa.struct([("y", pa.string()), ("b", pa.int8())]))]))
    features = json.loads(text)["features"]
    assert list(features) == ["z", "a"]
    assert list(features["a"]) == ["y", "b"]


def test_the_splits_of_a_dataset_dict_are_named():
    assert split_names('{"splits": ["train", "test"]}') == ["train", "test"]
    with pytest.raises(StoreError, match=r"dataset_dict\.json is damaged"):
        split_names("{}")
