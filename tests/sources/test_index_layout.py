"""Where the parts of an index of tokens lie."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydata_ext.errors import DamagedInputError
from raydata_ext.sources.index_layout import IndexLayout


@given(st.integers(0, 2**40), st.none() | st.integers(1, 2**40), st.booleans())
def test_a_header_is_read_back_as_it_was_written(items, borders, modal):
    layout = IndexLayout(items, borders, modal and borders is not None and items > 0)
    head = layout.header(np.uint16)
    assert len(head) == layout.sizes
    parsed, code = IndexLayout.parse(head.ljust(34, b"\0"), layout.num_bytes, "x.idx")
    assert (parsed.items, code) == (items, 8)
    assert parsed.num_bytes == layout.num_bytes


def test_the_parts_follow_one_another():
    fairseq, megatron = IndexLayout(3), IndexLayout(3, 2, modal=True)
    assert (fairseq.sizes, fairseq.pointers, fairseq.num_bytes) == (26, 38, 62)
    assert (megatron.sizes, megatron.pointers, megatron.documents, megatron.modes) == (34, 46, 70, 86)
    assert megatron.num_bytes == 89


def test_what_is_no_index_is_refused():
    with pytest.raises(DamagedInputError, match=r"x\.idx: it does not begin with"):
        IndexLayout.parse(b"TNTIDX\0\0" * 5, 40, "x.idx")
    with pytest.raises(DamagedInputError, match="an index of 3 items has 62 bytes in fairseq's format"):
        IndexLayout.parse(IndexLayout(3).header(np.uint16), 61, "x.idx")
