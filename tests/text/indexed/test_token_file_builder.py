"""The life of a `.bin` and an `.idx` file, whichever builder writes them."""

from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.indexed.indexed_dataset import IndexedDatasetBuilder
from raydata_ext.text.indexed.mmap_builder import MMapIndexedDatasetBuilder

pytestmark = pytest.mark.parametrize("builder_of", [MMapIndexedDatasetBuilder, IndexedDatasetBuilder])


def names(directory):
    return sorted(path.name for path in directory.iterdir())


def test_neither_file_is_there_before_the_end(tmp_path, builder_of):
    with builder_of(tmp_path / "new" / "x.bin", np.int32) as builder:
        builder.add_item(np.array([5, 6]))
        assert not {"x.bin", "x.idx"} & set(names(tmp_path / "new"))
        builder.finalize()
    assert names(tmp_path / "new") == ["x.bin", "x.idx"]


def test_an_exception_leaves_nothing_behind_and_earlier_files_as_they_were(tmp_path, builder_of):
    (tmp_path / "x.idx").write_bytes(b"earlier")
    with (
        pytest.raises(ValueError, match="token 70000 does not fit uint16"),
        builder_of(tmp_path / "x.bin", np.uint16) as b,
    ):
        b.add_item(np.array([70_000 - (builder_of is IndexedDatasetBuilder)]))  # which counts tokens from 1
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"x.idx": b"earlier"}


def test_a_type_that_cannot_be_stored_is_refused_before_a_file_is_begun(tmp_path, builder_of):
    with pytest.raises(ValueError, match="cannot be stored as complex128"):
        builder_of(tmp_path / "x.bin", np.complex128)
    assert names(tmp_path) == []


def test_files_of_another_type_are_not_merged(tmp_path, builder_of):
    with builder_of(tmp_path / "a.bin", np.int32) as builder:
        builder.add_item(np.array([5]))
        builder.finalize()
    with builder_of(tmp_path / "b.bin", np.int64) as builder, pytest.raises(ValueError, match="a holds int32"):
        builder.merge_file_(tmp_path / "a")
    assert names(tmp_path) == ["a.bin", "a.idx"]
