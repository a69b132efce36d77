"""Checking whatever is at a path or URL."""

from __future__ import annotations

from pathlib import Path

import fsspec
import pytest

from raydata_ext import Dataset, DatasetDict
from raydata_ext.errors import StoreError
from raydata_ext.store import fetched_file, is_file, verify_place


@pytest.fixture(params=["path", "url"])
def place(request, tmp_path) -> str:
    """A directory, by its path or under a URL."""
    return str(tmp_path / "place") if request.param == "path" else f"memory:/{tmp_path}/place"


def damage(path: str) -> None:
    with fetched_file(path) as local:
        content = bytearray(Path(local).read_bytes())
    content[len(content) // 2] ^= 1
    if "://" in path:
        fsspec.filesystem("memory").pipe_file(path, bytes(content))
    else:
        Path(path).write_bytes(content)


@pytest.mark.parametrize("splits", [False, True])
def test_one_changed_byte_of_a_data_set_is_found_and_its_file_named(place, splits):
    rows = Dataset.from_dict({"a": list(range(100))})
    (DatasetDict(train=rows) if splits else rows).save_to_disk(place)
    file = f"{place}/{'train/' if splits else ''}data-00000-of-00001.arrow"
    assert list(verify_place(place)) == list(verify_place(file)) == []
    assert is_file(file)
    assert not is_file(place)
    damage(file)
    (problem,) = verify_place(place)
    assert problem.startswith(f"{file}: ")


def test_a_place_without_anything_of_ours_is_an_error(place):
    with pytest.raises(StoreError, match="there is no dataset directory, cache directory or Arrow file"):
        list(verify_place(place))
