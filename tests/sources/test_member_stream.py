"""bz2 and xz files of several streams."""

from __future__ import annotations

import bz2
import io
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydata_ext.sources.member_stream import MemberStream

MAKE = {"bz2": bz2.BZ2Decompressor, "xz": lzma.LZMADecompressor}
COMPRESS = {"bz2": bz2.compress, "xz": lzma.compress}


def read(content: bytes, codec: str, size: int) -> bytes:
    stream = MemberStream(io.BytesIO(content), MAKE[codec], padding=b"\0" if codec == "xz" else b"")
    return b"".join(iter(lambda: stream.read(size), b""))


@given(st.sampled_from(sorted(MAKE)), st.lists(st.binary(max_size=50), min_size=1, max_size=5), st.integers(1, 60))
def test_all_streams_are_read_empty_ones_too(codec: str, parts: list[bytes], size: int) -> None:
    assert read(b"".join(map(COMPRESS[codec], parts)), codec, size) == b"".join(parts)


@pytest.mark.parametrize("codec", MAKE)
def test_every_cut_within_a_stream_is_an_error(codec: str) -> None:
    first, second = COMPRESS[codec](b"a" * 100), COMPRESS[codec](b"b" * 100)
    for cut in range(1, len(second)):
        with pytest.raises(EOFError, match="the file ends before the compressed stream does"):
            read(first + second[:cut], codec, 1000)


@pytest.mark.parametrize("codec", MAKE)
def test_a_second_stream_that_is_damaged_in_its_header_is_an_error(codec: str) -> None:
    first, second = COMPRESS[codec](b"a" * 100), bytearray(COMPRESS[codec](b"b" * 100))
    second[1] ^= 0xFF
    with pytest.raises((OSError, lzma.LZMAError)):
        read(first + bytes(second), codec, 1000)


def test_closing_closes_the_file() -> None:
    raw = io.BytesIO(bz2.compress(b"a"))
    MemberStream(raw, bz2.BZ2Decompressor).close()
    assert raw.closed
