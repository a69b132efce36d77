"""Paths and URLs as users write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from raydata_ext import Dataset, load_dataset, load_from_disk
from raydata_ext.remote.places import absolute_place, without_local_scheme


@pytest.mark.parametrize("scheme", ["", "file://", "local://", "file:"])
def test_a_url_of_this_machine_is_its_path(scheme, tmp_path):
    assert absolute_place(f"{scheme}{tmp_path}/a b#c%20") == f"{tmp_path}/a b#c%20"


def test_relative_paths_and_the_home_directory_become_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert absolute_place("out/") == str(tmp_path / "out")
    assert absolute_place(Path("out")) == str(tmp_path / "out")
    assert absolute_place("~/out") == str(tmp_path / "home" / "out")


def test_other_urls_stay_what_they_are():
    assert absolute_place("s3://bucket/a%20b/") == "s3://bucket/a%20b"
    assert without_local_scheme("memory://x::y") == "memory://x::y"


@pytest.mark.parametrize(
    "use",
    [
        lambda place: Dataset.from_dict({"a": [1]}).save_to_disk(place),
        lambda place: Dataset.from_dict({"a": [1]}, cache_dir=place),
        lambda place: Dataset.from_dict({"a": [1]}).to_parquet(place / "rows.parquet"),
        load_from_disk,
        load_dataset,
    ],
)
def test_a_url_that_pathlib_has_shortened_is_refused_and_not_made_a_directory(use, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"give it as text: 's3://bucket"):
        use(Path("s3://bucket/rows"))
    assert not (tmp_path / "s3:").exists()


@pytest.mark.parametrize("use", [Dataset.from_dict({"a": [1]}).save_to_disk, load_from_disk, load_dataset])
def test_no_path_is_not_taken_for_the_working_directory(use, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="the path is empty"):
        use("")


def test_a_path_that_only_looks_like_a_url_is_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Dataset.from_dict({"a": [1]}).save_to_disk("corpus:/rows")
    assert load_from_disk(tmp_path / "corpus:" / "rows")[:] == {"a": [1]}
