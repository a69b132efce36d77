"""The index of mapped datasets, to the byte."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from raydata_ext.errors import DamagedInputError
from raydata_ext.text.indexed.mmap_index import MMapIndex, read_mmap_index, write_mmap_index

SIZES = np.array([2, 0, 3, 1], np.int32)
FAIRSEQ = b"MMIDIDX\0\0" + struct.pack("<QBQ4i4q", 1, 8, 4, 2, 0, 3, 1, 0, 4, 4, 10)
MEGATRON = b"MMIDIDX\0\0" + struct.pack("<QBQQ4i4q3q", 1, 8, 4, 3, 2, 0, 3, 1, 0, 4, 4, 10, 0, 2, 4)
MODES = struct.pack("<4b", 0, 1, 0, 1)


def test_the_file_of_fairseq_is_written_byte_for_byte(tmp_path):
    write_mmap_index(tmp_path / "x.idx", MMapIndex(np.dtype(np.uint16), SIZES))
    assert (tmp_path / "x.idx").read_bytes() == FAIRSEQ
    assert len(FAIRSEQ) == 74


@pytest.mark.parametrize("modes", [None, np.array([0, 1, 0, 1], np.int8)])
def test_the_file_of_megatron_is_written_byte_for_byte(tmp_path, modes):
    write_mmap_index(tmp_path / "x.idx", MMapIndex(np.dtype(np.uint16), SIZES, np.array([0, 2, 4]), modes))
    assert (tmp_path / "x.idx").read_bytes() == MEGATRON + (b"" if modes is None else MODES)


@pytest.mark.parametrize(
    ("content", "layout", "documents", "modes"),
    [
        (FAIRSEQ, "fairseq", None, None),
        (MEGATRON, "megatron", [0, 2, 4], None),
        (MEGATRON + MODES, "megatron", [0, 2, 4], [0, 1, 0, 1]),
    ],
)
def test_the_two_headers_are_told_apart_by_size(tmp_path, content, layout, documents, modes):
    (tmp_path / "x.idx").write_bytes(content)
    index = read_mmap_index(tmp_path / "x.idx", 12)
    assert (index.layout, index.dtype, index.sizes.tolist()) == (layout, np.uint16, [2, 0, 3, 1])
    assert (None if index.document_indices is None else index.document_indices.tolist()) == documents
    assert (None if index.modes is None else index.modes.tolist()) == modes


def test_pointers_past_two_gigabytes_do_not_overflow(tmp_path):
    sizes = np.array([2**30, 2**30, 3], np.int32)
    write_mmap_index(tmp_path / "x.idx", MMapIndex(np.dtype(np.int32), sizes))
    assert struct.unpack("<3q", (tmp_path / "x.idx").read_bytes()[-24:]) == (0, 2**32, 2**33)
    assert read_mmap_index(tmp_path / "x.idx", 4 * (2**31 + 3)).sizes.tolist() == sizes.tolist()


@pytest.mark.parametrize("items", [0, 1])
@pytest.mark.parametrize("layout", ["fairseq", "megatron"])
def test_none_and_one_item_are_fine(tmp_path, items, layout):
    documents = None if layout == "fairseq" else np.array([0] + [1] * items)
    write_mmap_index(tmp_path / "x.idx", MMapIndex(np.dtype(np.int64), np.full(items, 5, np.int32), documents))
    index = read_mmap_index(tmp_path / "x.idx", 40 * items)
    assert (index.layout, index.sizes.tolist()) == (layout, [5] * items)


@pytest.mark.parametrize(
    ("content", "bin_bytes", "message"),
    [
        (b"", 0, "no index"),
        (b"TNTIDX\0\0" + FAIRSEQ, 12, "no index"),
        (FAIRSEQ[:-1], 12, "cut off or damaged"),
        (MEGATRON[:-1], 12, "cut off or damaged"),
        (FAIRSEQ, 10, "must have 12 bytes; it has 10"),
        (b"MMIDIDX\0\0" + struct.pack("<QBQ", 2, 8, 0), 0, "version 2"),
        (b"MMIDIDX\0\0" + struct.pack("<QBQ", 1, 77, 0), 0, "type code 77"),
        (b"MMIDIDX\0\0" + struct.pack("<QBQ2i2q", 1, 8, 2, 4, -1, 0, 8), 6, "item 1 has the size -1"),
    ],
)
def test_damage_is_found_and_named(tmp_path, content, bin_bytes, message):
    (tmp_path / "x.idx").write_bytes(content)
    with pytest.raises(DamagedInputError, match=message) as raised:
        read_mmap_index(tmp_path / "x.idx", bin_bytes)
    assert "x.idx" in str(raised.value)
