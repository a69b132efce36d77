"""Splits by name, on disk as Hugging Face has them."""

from __future__ import annotations

import json

import datasets
import pytest

import raydata_ext as rdx
from raydata_ext.dataset import Dataset, DatasetDict
from raydata_ext.errors import StoreError


@pytest.fixture
def splits(dataset):
    return dataset.train_test_split(test_size=5, seed=1)


def test_what_is_done_to_all_is_done_to_each(splits):
    changed = (
        splits.filter(lambda row: row["id"] > 2)
        .map(lambda row: {"length": len(row["text"])})
        .rename_column("text", "body")
        .rename_columns({"length": "size"})
        .remove_columns("tokens")
        .sort("id", reverse=True)
        .shuffle(seed=2)
        .flatten()
        .flatten_indices()
    )
    assert isinstance(changed, DatasetDict)
    assert changed.column_names == {"train": ["id", "body", "size"], "test": ["id", "body", "size"]}
    assert sorted(changed["train"]["id"][:] + changed["test"]["id"][:]) == list(range(3, 23))
    assert changed.select_columns(["id"]).num_columns == {"train": 1, "test": 1}


def test_it_tells_of_each_what_a_data_set_tells(splits):
    assert splits.num_rows == {"train": 18, "test": 5}
    assert splits.shape == {"train": (18, 3), "test": (5, 3)}
    assert splits.unique("id")["test"] == splits["test"]["id"][:]
    assert set(splits.cache_files) == {"train", "test"}
    assert "train: Dataset(18 rows; id: int64" in repr(splits)


def test_formats_and_types_are_those_of_each(splits):
    numpy = splits.with_format("numpy", columns=["id"])
    assert {split.format["type"] for split in numpy.values()} == {"numpy"}
    splits.set_format("pandas")
    assert {split.format["type"] for split in splits.values()} == {"pandas"}
    splits.set_transform(lambda batch: {"n": batch["id"]})
    assert all(list(split[0]) == ["n"] for split in splits.values())
    assert all(split[0] == {} for split in splits.with_transform(lambda batch: {}).values())
    splits.reset_format()
    assert {split.format["type"] for split in splits.values()} == {None}
    narrow = splits.cast_column("id", {"_type": "Value", "dtype": "int16"})
    assert [str(split.schema.field("id").type) for split in narrow.values()] == ["int16", "int16"]
    assert splits.cast(narrow["test"].schema)["train"].schema == narrow["train"].schema


def test_hugging_face_opens_what_we_save_and_we_what_it_saves(splits, tmp_path):
    splits.save_to_disk(tmp_path / "ours")
    theirs = datasets.load_from_disk(str(tmp_path / "ours"))
    assert {name: list(split) for name, split in theirs.items()} == {n: split.to_list() for n, split in splits.items()}
    theirs.save_to_disk(str(tmp_path / "theirs"))
    for directory in ("ours", "theirs"):
        found = rdx.load_from_disk(tmp_path / directory)
        assert isinstance(found, DatasetDict)
        assert list(found) == ["train", "test"]
        assert {name: split.to_list() for name, split in found.items()} == {
            name: split.to_list() for name, split in splits.items()
        }
    assert isinstance(rdx.load_from_disk(tmp_path / "ours" / "train"), Dataset)


def test_splits_lie_under_a_url_too(splits):
    splits.save_to_disk("memory://splits")
    assert rdx.load_from_disk("memory://splits").num_rows == {"train": 18, "test": 5}


@pytest.mark.parametrize("name", ["../other", "/etc", ""])
def test_a_name_that_leads_out_of_the_directory_is_refused(splits, tmp_path, name):
    with pytest.raises(StoreError):
        DatasetDict({name: splits["test"]}).save_to_disk(tmp_path / "out")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "dataset_dict.json").write_text(json.dumps({"splits": [name]}))
    with pytest.raises(StoreError):
        rdx.load_from_disk(tmp_path / "in")


def test_a_directory_that_was_not_written_to_its_end_is_none(splits, tmp_path):
    splits.save_to_disk(tmp_path / "out")
    splits["train"].set_format("custom", transform=dict)
    with pytest.raises(ValueError, match="cannot be stored"):
        splits.save_to_disk(tmp_path / "out")
    with pytest.raises(StoreError, match="no dataset directory"):
        rdx.load_from_disk(tmp_path / "out")


def test_splits_are_not_written_over_the_files_they_are_read_from_and_stay_as_they_were(splits, tmp_path):
    splits.save_to_disk(tmp_path / "out")
    loaded = rdx.load_from_disk(tmp_path / "out")
    with pytest.raises(StoreError, match="holds files that this data set is mapped from"):
        loaded.shuffle(seed=1).save_to_disk(tmp_path / "out")
    assert rdx.load_from_disk(tmp_path / "out")["test"].to_list() == splits["test"].to_list()
    loaded.save_to_disk(tmp_path / "out", max_shard_size="512MB")


def test_the_splits_file_goes_where_the_options_of_the_data_sets_lead(dataset, tmp_path):
    options = {"dir": {"path": str(tmp_path), "fs": None, "target_protocol": "file"}}
    rows = Dataset.from_dict({"a": [1]}, cache_dir=rdx.Workspace(tmp_path / "cache", options))
    DatasetDict(train=rows).save_to_disk("dir://splits")
    assert (tmp_path / "splits" / "dataset_dict.json").exists()
