"""Dataset directories under a URL, as tables."""

from __future__ import annotations

import itertools
import os

import datasets
import fsspec
import pyarrow as pa
import pytest

from raydata_ext.errors import NoRoomError, StoreError
from raydata_ext.store import (
    NodeCache,
    ShardFile,
    data_file_name,
    open_directory,
    open_tables,
    prepare_dataset_directory,
    read_dataset_directory,
    write_dataset_directory,
)
from raydata_ext.table import ShardWriter, file_origin

NUMBERS = itertools.count()
ROWS = 50


@pytest.fixture
def url():
    url = f"memory://directory-tables-{os.getpid()}-{next(NUMBERS)}"
    yield url
    memory = fsspec.filesystem("memory")
    if memory.exists(url):
        memory.rm(url, recursive=True)


@pytest.fixture
def copies(tmp_path):
    return NodeCache(str(tmp_path / "copies"))


def rows(number):
    return pa.table({"n": range(number * ROWS, (number + 1) * ROWS)})


def save(url, count=3):
    directory = open_directory(url)
    prepare_dataset_directory(directory)
    files = []
    for number in range(count):
        name = data_file_name(number, count)
        with directory.written(name) as path, ShardWriter(path, rows(number).schema) as writer:
            writer.write(rows(number).to_batches()[0])
            summary = writer.finish()
        files.append(ShardFile(name, summary.num_bytes, summary.rows, summary.checksum))
    return write_dataset_directory(directory, files, schema=summary.schema, fingerprint="f", lineage={})


def numbers(shards):
    return [row["n"] for shard in shards for row in shard.table.to_pylist()]


def test_files_of_a_manifest_are_copied_when_their_rows_are_looked_at(url, copies):
    saved = save(url)
    shards = open_tables(read_dataset_directory(url), copies)
    assert [(shard.table.num_rows, shard.checksum) for shard in shards] == [
        (ROWS, file.checksum) for file in saved.files
    ]
    assert not copies.path.exists()
    assert numbers(shards[1:2]) == list(range(ROWS, 2 * ROWS))
    assert len(list(copies.path.glob("*.arrow"))) == 1


def test_equal_files_of_two_directories_share_a_copy(url, copies):
    save(url)
    save(f"{url}/other")
    assert numbers(open_tables(read_dataset_directory(url), copies)) == list(range(3 * ROWS))
    assert numbers(open_tables(read_dataset_directory(f"{url}/other"), copies)) == list(range(3 * ROWS))
    assert len(list(copies.path.glob("*.arrow"))) == 3


def test_files_of_hugging_face_are_read_once_to_learn_what_they_hold(url, copies, tmp_path):
    datasets.Dataset(rows(0)).save_to_disk(str(tmp_path / "theirs"), num_shards=2)
    fsspec.filesystem("memory").put(str(tmp_path / "theirs"), url, recursive=True)
    shards = open_tables(read_dataset_directory(url), copies)
    assert [shard.table.num_rows for shard in shards] == [25, 25]
    assert all(len(shard.checksum) == 32 for shard in shards)
    before = {path: path.stat().st_ino for path in copies.path.glob("*.arrow")}
    assert numbers(open_tables(read_dataset_directory(url), copies)) == list(range(ROWS))
    assert {path: path.stat().st_ino for path in copies.path.glob("*.arrow")} == before


def test_a_file_that_was_written_anew_has_another_copy(url, copies, tmp_path):
    for number in range(2):
        datasets.Dataset(rows(number)).save_to_disk(str(tmp_path / str(number)))
        for path in (tmp_path / str(number)).iterdir():
            fsspec.filesystem("memory").pipe_file(f"{url}/{path.name}", path.read_bytes())
        expected = list(range(number * ROWS, (number + 1) * ROWS))
        assert numbers(open_tables(read_dataset_directory(url), copies)) == expected


def test_a_disk_that_holds_not_one_file_is_an_error(url, tmp_path, monkeypatch):
    monkeypatch.setattr(file_origin, "PATIENCE_SECONDS", 0.0)
    save(url)
    (first, *_) = open_tables(read_dataset_directory(url), NodeCache(str(tmp_path / "copies"), 10))
    with pytest.raises(NoRoomError, match=r"no room for .* at most 10"):
        first.table.row(0)


def test_a_file_that_is_gone_when_its_rows_are_looked_at_is_named(url, copies):
    save(url)
    shards = open_tables(read_dataset_directory(url), copies)
    fsspec.filesystem("memory").rm_file(f"{url}/{data_file_name(1, 3)}")
    with pytest.raises(StoreError, match=rf"{url}/data-00001-of-00003.arrow was deleted since it was looked up"):
        numbers(shards)
