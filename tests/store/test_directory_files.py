"""Flat directories, local and under a URL."""

from __future__ import annotations

import os
from pathlib import Path

import fsspec
import pytest

from raydata_ext.errors import StoreError
from raydata_ext.store import open_directory


@pytest.fixture(params=["local", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path):
    if request.param == "local":
        yield str(tmp_path / "directory")
        return
    url = f"memory://directory-files-{os.getpid()}"
    yield url
    memory = fsspec.filesystem("memory")
    if memory.exists(url):
        memory.rm(url, recursive=True)


def test_files_are_written_listed_read_and_deleted(place: str) -> None:
    directory = open_directory(place)
    assert not directory.exists()
    directory.make()
    directory.write("b.json", b"22", sync=False)
    directory.write("a.json", b"1", sync=False)
    directory.write("a.json", b"333", sync=True)
    assert directory.exists()
    assert directory.names() == ["a.json", "b.json"]
    assert directory.sizes(["b.json", "c.json", "a.json"]) == {"b.json": 2, "a.json": 3}
    assert [directory.read(name) for name in ("a.json", "c.json")] == [b"333", None]
    directory.delete("a.json")
    directory.delete("a.json")
    assert directory.names() == ["b.json"]


def test_a_file_that_is_written_locally_is_there_afterwards(place: str) -> None:
    directory = open_directory(place)
    directory.make()
    with directory.written("data.arrow") as local:
        Path(local).write_bytes(b"rows")
    assert directory.read("data.arrow") == b"rows"
    with directory.fetched("data.arrow") as local:
        assert Path(local).read_bytes() == b"rows"


def test_a_file_whose_writing_fails_is_not_there(place: str) -> None:
    directory = open_directory(place)
    directory.make()
    with pytest.raises(ZeroDivisionError), directory.written("data.arrow"):
        _ = 1 / 0
    assert directory.names() == []


def test_what_is_not_there_is_empty(place: str) -> None:
    directory = open_directory(place)
    assert directory.read("a.json") is None
    assert directory.sizes(["a.json"]) == {}


def test_paths_are_absolute_and_urls_have_no_slash_at_their_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert open_directory("out/").path == f"{tmp_path}/out"
    assert open_directory(f"file://{tmp_path}/out").path == f"{tmp_path}/out"
    assert open_directory("memory://out/").path == "memory://out"


def test_a_file_in_place_of_the_directory_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(StoreError, match="is a file; give a directory"):
        open_directory(tmp_path / "out").make()
