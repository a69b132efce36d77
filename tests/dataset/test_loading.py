"""From paths to data sets."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.feather
import pytest

from raydata_ext import load_dataset, load_from_disk
from raydata_ext.errors import NoMatchError


def test_arrow_files_are_mapped_where_they_are(make_files, rows, tmp_path):
    paths = make_files()
    dataset = load_dataset(tmp_path / "files" / "*.arrow", cache_dir=tmp_path / "cache")
    assert dataset.to_list() == rows
    assert dataset.cache_files == [{"filename": str(path)} for path in paths if path.name != "1.arrow"]
    assert not (tmp_path / "cache").exists()


def test_columns_of_arrow_files_may_be_chosen(make_files, tmp_path):
    make_files()
    dataset = load_dataset(tmp_path / "files", columns=["text", "id"], cache_dir=tmp_path / "cache")
    assert dataset[3] == {"text": "row 3", "id": 3}
    assert not (tmp_path / "cache").exists()


def test_compressed_arrow_files_are_written_to_the_cache_once_as_they_could_not_be_mapped(tmp_path):
    pyarrow.feather.write_feather(pa.table({"n": range(10_000)}), tmp_path / "x.feather", compression="lz4")
    dataset = load_dataset(tmp_path / "x.feather", cache_dir=tmp_path / "cache")
    assert dataset["n"][-1] == 9999
    assert all(str(tmp_path / "cache") in file["filename"] for file in dataset.cache_files)


def test_a_schema_is_a_step(make_files, tmp_path):
    make_files()
    schema = pa.schema(
        [("id", pa.int32()), ("text", pa.string()), ("tokens", pa.list_(pa.int32())), ("more", pa.string())]
    )
    dataset = load_dataset(tmp_path / "files", schema=schema, cache_dir=tmp_path / "cache")
    assert dataset[3] == {"id": 3, "text": "row 3", "tokens": [0, 1, 2], "more": None}


def test_an_empty_match_is_an_error(tmp_path):
    with pytest.raises(NoMatchError):
        load_dataset(tmp_path / "*.arrow")


def test_files_whose_names_are_no_unicode_are_computed_with_and_saved(tmp_path):
    path = tmp_path / "caf\udce9.txt"
    path.write_text("a\nb\n")
    dataset = load_dataset(path).map(lambda row: {"n": len(row["text"])})
    dataset.save_to_disk(tmp_path / "out\udce9")
    saved = load_from_disk(tmp_path / "out\udce9")
    assert saved.map(lambda row: {"m": row["n"] + 1})[:] == {"text": ["a", "b"], "n": [1, 1], "m": [2, 2]}
