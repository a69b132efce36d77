"""The older format of fairseq, to the byte."""

from __future__ import annotations

import pickle
import struct

import numpy as np
import pytest

from raydata_ext.errors import DamagedInputError
from raydata_ext.text.indexed.indexed_dataset import IndexedDataset, IndexedDatasetBuilder

INDEX = b"TNTIDX\0\0" + struct.pack("<5Q3q3q2q", 1, 4, 4, 2, 2, 0, 1, 2, 0, 3, 4, 3, 1)


def write(path, items, dtype=np.int32):
    with IndexedDatasetBuilder(f"{path}.bin", dtype) as builder:
        for item in items:
            builder.add_item(np.array(item, np.int64))
        builder.finalize()


def contents(path):
    return [item.tolist() for item in IndexedDataset(path, fix_lua_indexing=True)]


def test_both_files_are_written_byte_for_byte_with_tokens_counted_from_one(tmp_path):
    write(tmp_path / "x", [[5, 6, 2], [7]])
    assert (tmp_path / "x.idx").read_bytes() == INDEX
    assert len(INDEX) == 112
    assert (tmp_path / "x.bin").read_bytes() == struct.pack("<4i", 6, 7, 3, 8)


@pytest.mark.parametrize("items", [[], [[]], [[3]], [[5, 6, 2], [], [7]]])
def test_items_are_read_back_counted_as_asked_for(tmp_path, items):
    write(tmp_path / "x", items)
    dataset = IndexedDataset(tmp_path / "x")
    assert [item.tolist() for item in dataset] == [[token + 1 for token in item] for item in items]
    assert contents(tmp_path / "x") == items
    assert dataset.sizes.tolist() == [len(item) for item in items]
    assert all(dataset.size(number) == len(item) for number, item in enumerate(items))
    assert not dataset.supports_prefetch


def test_it_travels_as_its_path(tmp_path):
    write(tmp_path / "x", [[5]])
    dataset = IndexedDataset(tmp_path / "x", fix_lua_indexing=True)
    dataset.return_tensors = "np"
    copy = pickle.loads(pickle.dumps(dataset))
    assert (copy[0].tolist(), copy.return_tensors) == ([5], "np")


def test_datasets_are_merged_in_order(tmp_path):
    write(tmp_path / "a", [[1], []])
    write(tmp_path / "b", [[2, 3]])
    with IndexedDatasetBuilder(tmp_path / "all.bin") as builder:
        builder.merge_file_(tmp_path / "a")
        builder.merge_file_(tmp_path / "b")
        builder.finalize(tmp_path / "all.idx")
    assert contents(tmp_path / "all") == [[1], [], [2, 3]]


def test_a_token_that_does_not_fit_is_an_error_and_leaves_nothing(tmp_path):
    with pytest.raises(ValueError, match="item 1, counted from 1: token 256 does not fit uint8"):
        write(tmp_path / "x", [[254], [255]], np.uint8)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (b"", "no index"),
        (b"MMIDIDX\0\0" + INDEX, "no index"),
        (INDEX[:-8], "cut off or damaged"),
        (INDEX.replace(struct.pack("<Q", 1), struct.pack("<Q", 2), 1), "version 2"),
        (b"TNTIDX\0\0" + struct.pack("<5Q2q", 1, 44, 4, 0, 0, 0, 0), "type code 44"),
        (INDEX, "4 elements of int32, which are 16 bytes; .*bin has 4"),
    ],
)
def test_damage_is_found_and_named(tmp_path, index, message):
    (tmp_path / "x.idx").write_bytes(index)
    (tmp_path / "x.bin").write_bytes(b"\0" * 4)
    with pytest.raises(DamagedInputError, match=message):
        IndexedDataset(tmp_path / "x")


@pytest.mark.parametrize(("word", "number"), [(2, 3), (2, 8), (8, 1), (9, 2**40), (9, -1), (10, 7)])
def test_an_index_whose_numbers_do_not_fit_together_is_an_error_that_names_it(tmp_path, word, number):
    write(tmp_path / "x", [[5, 6, 2], [7]])
    damaged = bytearray(INDEX)
    struct.pack_into("<q", damaged, 8 + 8 * word, number)
    (tmp_path / "x.idx").write_bytes(damaged)
    with pytest.raises(DamagedInputError, match=r"x\.idx"):
        IndexedDataset(tmp_path / "x")
