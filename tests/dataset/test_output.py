"""Dataset directories, written and read by us and by Hugging Face."""

from __future__ import annotations

import json

import datasets
import pytest

from raydata_ext import load_from_disk
from raydata_ext.dataset import Dataset
from raydata_ext.errors import StoreError


def test_hugging_face_opens_what_we_save(any_dataset, tmp_path):
    chosen = any_dataset.select([5, 3, 20]).with_format("numpy", columns=["id"])
    chosen.save_to_disk(tmp_path / "out")
    theirs = datasets.load_from_disk(str(tmp_path / "out"))
    assert theirs.with_format(None).to_list() == any_dataset.select([5, 3, 20]).to_list()
    assert theirs.format["type"] == "numpy"
    assert theirs.format["columns"] == ["id"]
    assert theirs.features["tokens"] == datasets.List(datasets.Value("int32"))


def test_we_open_what_hugging_face_saves(rows, tmp_path):
    theirs = datasets.Dataset.from_list(rows).with_format("numpy", columns=["id"])
    theirs.save_to_disk(str(tmp_path / "hf"), num_shards=3)
    ours = load_from_disk(tmp_path / "hf")
    assert ours.to_list() == rows
    assert ours[3]["id"] == 3
    assert list(ours[3]) == ["id"]
    assert ours.map(lambda row: {"n": 1}).num_rows == 23


def test_what_is_there_already_is_not_written_again(any_dataset, tmp_path):
    any_dataset.save_to_disk(tmp_path / "out")
    manifest = tmp_path / "out" / "manifest.json"
    written = manifest.stat().st_mtime_ns
    any_dataset.save_to_disk(tmp_path / "out")
    assert manifest.stat().st_mtime_ns == written
    any_dataset.select([1, 0]).save_to_disk(tmp_path / "out")
    assert load_from_disk(tmp_path / "out")["id"] == [1, 0]


def test_a_directory_is_written_again_for_another_size_of_files_or_another_format(any_dataset, tmp_path):
    for change in ({"max_shard_bytes": "1KB"}, {}):
        any_dataset.save_to_disk(tmp_path / "out", **change)
        assert load_from_disk(tmp_path / "out").to_list() == any_dataset.to_list()
    any_dataset.with_format("numpy").save_to_disk(tmp_path / "out")
    assert load_from_disk(tmp_path / "out").format["type"] == "numpy"


def test_files_are_about_as_large_as_asked_for(tmp_path):
    dataset = Dataset.from_dict({"text": ["x" * 900] * 5000}, cache_dir=tmp_path / "cache")
    directory = dataset.save_to_disk(tmp_path / "out", max_shard_bytes="1MB")
    assert len(directory.files) == 5
    assert [file.rows for file in directory.files] == [1000] * 5


@pytest.mark.parametrize("num_shards", [1, 3, 23, 30])
def test_there_are_as_many_files_as_asked_for_of_about_as_many_rows(any_dataset, tmp_path, num_shards):
    directory = any_dataset.save_to_disk(tmp_path / "out", num_shards=num_shards, num_proc=1)
    rows = [file.rows for file in directory.files]
    assert (len(rows), sum(rows)) == (num_shards, any_dataset.num_rows)
    assert max(rows) - min(rows) <= 1
    assert load_from_disk(tmp_path / "out").to_list() == any_dataset.to_list()
    assert datasets.load_from_disk(str(tmp_path / "out")).to_list() == any_dataset.to_list()


def test_sizes_of_files_under_both_names_and_never_two_at_once(any_dataset, tmp_path):
    ours = any_dataset.save_to_disk(tmp_path / "ours", max_shard_bytes="1KB")
    assert len(any_dataset.save_to_disk(tmp_path / "theirs", max_shard_size="1KB").files) == len(ours.files)
    with pytest.raises(ValueError, match="exclude each other"):
        any_dataset.save_to_disk(tmp_path / "out", max_shard_size="1KB", num_shards=2)
    with pytest.raises(ValueError, match="num_shards is 0"):
        any_dataset.save_to_disk(tmp_path / "out", num_shards=0)


def test_the_manifest_names_the_data_set_and_where_it_is_from(any_dataset, tmp_path):
    any_dataset.save_to_disk(tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    state = json.loads((tmp_path / "out" / "state.json").read_text())
    assert manifest["fingerprint"] == state["_fingerprint"] == any_dataset.fingerprint


def test_a_data_set_is_not_written_over_the_files_it_is_read_from(any_dataset, tmp_path):
    any_dataset.save_to_disk(tmp_path / "out")
    loaded = load_from_disk(tmp_path / "out")
    with pytest.raises(StoreError, match="holds files that this data set is mapped from, such as data-00000-of-"):
        loaded.shuffle(seed=1).save_to_disk(tmp_path / "out")
    loaded.save_to_disk(tmp_path / "out")
    assert load_from_disk(tmp_path / "out").to_list() == any_dataset.to_list()


def test_a_link_to_the_directory_is_known_for_what_it_leads_to(any_dataset, tmp_path):
    any_dataset.save_to_disk(tmp_path / "out")
    (tmp_path / "link").symlink_to(tmp_path / "out")
    for one, other in (("out", "link"), ("link", "out")):
        loaded = load_from_disk(tmp_path / one)
        with pytest.raises(StoreError, match="holds files that this data set is mapped from"):
            loaded.shuffle(seed=1).save_to_disk(tmp_path / other)
        loaded.save_to_disk(tmp_path / other)
    assert load_from_disk(tmp_path / "link").to_list() == any_dataset.to_list()


def test_a_file_on_the_way_to_the_directory_is_named(any_dataset, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="out is below a file; give a directory"):
        any_dataset.save_to_disk(tmp_path / "file" / "out")
