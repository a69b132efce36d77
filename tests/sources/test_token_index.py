"""Indexes of token files."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raydata_ext.sources import token_index
from raydata_ext.sources.token_index import TokenIndex

if TYPE_CHECKING:
    import pytest


def index_bytes(sizes: list[int], code: int = 8) -> bytes:
    items = len(sizes)
    return struct.pack("<9sQBQ", b"MMIDIDX\0\0", 1, code, items) + np.array(sizes, "<i4").tobytes() + bytes(8 * items)


def read(write, sizes: list[int]) -> TokenIndex:
    return TokenIndex.read(write(index_bytes(sizes)), 2 * sum(sizes))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 9), max_size=20), st.data())
def test_runs_cover_the_items_asked_for_and_are_small(write, sizes: list[int], data) -> None:
    start = data.draw(st.integers(0, len(sizes)))
    end = data.draw(st.integers(start, len(sizes)))
    runs = list(read(write, sizes).runs(start, end, max_items=4, max_bytes=12))
    assert [size for _, part in runs for size in part.tolist()] == sizes[start:end]
    at = start
    for offset, part in runs:
        assert offset == 2 * sum(sizes[:at])
        assert len(part) == 1 or (len(part) <= 4 and 2 * int(part.sum()) <= 12)
        at += len(part)


def test_sizes_are_read_a_stretch_at_a_time(write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_index, "_SIZES_AT_ONCE", 3)
    index = read(write, [1, 2, 3, 4, 5, 6, 7])
    assert [part.tolist() for part in index.sizes()] == [[1, 2, 3], [4, 5, 6], [7]]
    assert [(at, part.tolist()) for at, part in index.runs(2, 7, 2, 1000)] == [
        (6, [3]),
        (12, [4, 5]),
        (30, [6]),
        (42, [7]),
    ]


def test_the_size_of_the_tokens_tells_single_from_double_precision(write) -> None:
    file = write(index_bytes([2, 1], code=7))
    assert TokenIndex.read(file, 12).dtype == np.dtype("float32")
    assert TokenIndex.read(file, 24).dtype == np.dtype("float64")
