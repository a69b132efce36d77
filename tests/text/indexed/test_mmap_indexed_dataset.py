"""Mapped datasets of fairseq and Megatron, as they are read."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from raydata_ext.text.indexed.mmap_builder import MMapIndexedDatasetBuilder
from raydata_ext.text.indexed.mmap_indexed_dataset import MMapIndexedDataset

ITEMS = [[5, 6, 2], [], [7], [65535, 2]]


def build(path, items, dtype=np.uint16, **arguments):
    with MMapIndexedDatasetBuilder(f"{path}.bin", dtype, **arguments) as builder:
        for item in items:
            builder.add_item(np.array(item, np.int64))
        builder.finalize(f"{path}.idx")
    return MMapIndexedDataset(path)


@pytest.mark.parametrize("items", [[], [[]], [[3]], ITEMS])
def test_items_are_int64_copies_and_sizes_agree(tmp_path, items):
    dataset = build(tmp_path / "x", items)
    assert len(dataset) == len(items)
    assert [item.tolist() for item in dataset] == items
    assert dataset.sizes.tolist() == [len(item) for item in items]
    for number, item in enumerate(items):
        assert dataset[number].dtype == np.int64
        assert dataset[number].flags.writeable
        assert dataset.size(number) == dataset.num_tokens(number) == len(item)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.int32, np.int64, np.uint16, np.uint32, np.uint64])
def test_every_type_of_integer_is_read_back(tmp_path, dtype):
    top = min(np.iinfo(dtype).max, np.iinfo(np.int64).max)
    assert build(tmp_path / "x", [[0, top]], dtype)[0].tolist() == [0, top]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_stay_floats(tmp_path, dtype):
    with MMapIndexedDatasetBuilder(tmp_path / "x.bin", dtype) as builder:
        builder.add_item(np.array([0.5, 2]))
        builder.finalize()
    item = MMapIndexedDataset(tmp_path / "x")[0]
    assert (item.tolist(), item.dtype) == ([0.5, 2.0], dtype)


def test_items_are_asked_for_by_number_from_either_end_and_by_slice(tmp_path):
    dataset = build(tmp_path / "x", ITEMS)
    assert dataset[-1].tolist() == [65535, 2]
    assert [item.tolist() for item in dataset[1:3]] == [[], [7]]
    for number in (4, -5):
        with pytest.raises(IndexError, match=f"index {number} is out of range for 4 rows"):
            dataset[number]


def test_a_part_of_an_item_can_be_asked_for(tmp_path):
    dataset = build(tmp_path / "x", ITEMS)
    assert dataset.get(0, 1).tolist() == [6, 2]
    assert dataset.get(0, 1, 1).tolist() == [6]
    assert dataset.get(1).tolist() == []
    with pytest.raises(IndexError, match="item 0 has 3 tokens, not 3 from 1 on"):
        dataset.get(0, 1, 3)


def test_it_travels_as_its_path(tmp_path):
    dataset = build(tmp_path / "x", [[1] * 10_000])
    payload = pickle.dumps(dataset)
    assert len(payload) < 500
    assert pickle.loads(payload)[0].tolist() == [1] * 10_000


def test_changing_an_item_does_not_change_the_file(tmp_path):
    dataset = build(tmp_path / "x", ITEMS, np.int64)
    dataset[0][:] = 0
    assert dataset[0].tolist() == ITEMS[0]


def test_documents_of_megatron_are_read(tmp_path):
    with MMapIndexedDatasetBuilder(tmp_path / "x.bin", np.int32, layout="megatron") as builder:
        for item in ITEMS:
            builder.add_item(item)
            if len(item) == 1:
                builder.end_document()
        builder.end_document()
        builder.finalize()
    dataset = MMapIndexedDataset(tmp_path / "x")
    assert (dataset.layout, dataset.document_indices.tolist(), dataset.sequence_modes) == ("megatron", [0, 3, 4], None)
    assert [item.tolist() for item in dataset] == ITEMS


def test_a_missing_file_is_named(tmp_path):
    assert not MMapIndexedDataset.exists(tmp_path / "x")
    with pytest.raises(FileNotFoundError, match=r"x\.bin"):
        MMapIndexedDataset(tmp_path / "x")
