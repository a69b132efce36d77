"""Writing mapped datasets."""

from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.indexed.mmap_builder import MMapIndexedDatasetBuilder
from raydata_ext.text.indexed.mmap_indexed_dataset import MMapIndexedDataset


def write(path, items, dtype=np.uint16, **arguments):
    with MMapIndexedDatasetBuilder(f"{path}.bin", dtype, **arguments) as builder:
        for item in items:
            builder.add_item(item)
        builder.finalize()


def contents(path):
    return [item.tolist() for item in MMapIndexedDataset(path)]


def test_tokens_lie_one_after_the_other(tmp_path):
    write(tmp_path / "x", [[1, 2], [], [513]])
    assert (tmp_path / "x.bin").read_bytes() == bytes([1, 0, 2, 0, 1, 2])
    assert {path.name for path in tmp_path.iterdir()} == {"x.bin", "x.idx"}


def test_a_token_that_does_not_fit_is_an_error_and_does_not_wrap(tmp_path):
    with MMapIndexedDatasetBuilder(tmp_path / "x.bin", np.uint16) as builder:
        builder.add_item([1])
        with pytest.raises(ValueError, match=r"x\.bin: items 1 to 1: token 70000 does not fit uint16"):
            builder.add_item([5, 70000])


def test_many_items_are_added_at_once(tmp_path):
    with MMapIndexedDatasetBuilder(tmp_path / "x.bin") as builder:
        builder.add_items(np.array([1, 2, 3]), [2, 0, 1])
        builder.add_items(np.array([], np.int64), [])
        with pytest.raises(ValueError, match="add up to 2, but there are 1 tokens"):
            builder.add_items(np.array([1]), [2])
        builder.finalize()
    assert contents(tmp_path / "x") == [[1, 2], [], [3]]


def test_datasets_are_merged_in_order(tmp_path):
    write(tmp_path / "a", [[1], []])
    write(tmp_path / "b", [])
    write(tmp_path / "c", [[2, 3]])
    with MMapIndexedDatasetBuilder(tmp_path / "all.bin", np.uint16) as builder:
        builder.add_item([9])
        for part in "abc":
            builder.merge_file_(tmp_path / part)
        builder.finalize(tmp_path / "all.idx")
    assert contents(tmp_path / "all") == [[9], [1], [], [2, 3]]


def test_documents_are_merged_too(tmp_path):
    for name, items in (("a", [[1], [2]]), ("b", [[3]])):
        with MMapIndexedDatasetBuilder(tmp_path / f"{name}.bin", np.uint16, layout="megatron") as builder:
            for item in items:
                builder.add_item(item)
                builder.end_document()
            builder.finalize()
    write(tmp_path / "plain", [[4], [5]])
    with MMapIndexedDatasetBuilder(tmp_path / "all.bin", np.uint16, layout="megatron") as builder:
        for part in ("a", "b", "plain"):
            builder.merge_file_(tmp_path / part)
        builder.finalize()
    assert MMapIndexedDataset(tmp_path / "all").document_indices.tolist() == [0, 1, 2, 3, 5]


def test_torch_tensors_can_be_added(tmp_path):
    torch = pytest.importorskip("torch")
    write(tmp_path / "x", [torch.tensor([1, 2]), torch.tensor([], dtype=torch.long)])
    assert contents(tmp_path / "x") == [[1, 2], []]


def test_what_it_cannot_do_is_refused_at_once(tmp_path):
    with pytest.raises(ValueError, match="layout is 'other'"):
        MMapIndexedDatasetBuilder(tmp_path / "x.bin", layout="other")
    with MMapIndexedDatasetBuilder(tmp_path / "x.bin") as builder, pytest.raises(ValueError, match="has no documents"):
        builder.end_document()
    assert list(tmp_path.iterdir()) == []
