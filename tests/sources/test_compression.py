"""Opening files through their compression."""

from __future__ import annotations

import lzma
import random
import struct
from contextlib import closing

import pyarrow as pa
import pytest

from raydata_ext.errors import ReadError
from raydata_ext.sources.compression import DecompressedStream, is_compressed

_RANDOM = random.Random(1)
DATA = b"".join(b"line %d %d\n" % (number, _RANDOM.getrandbits(40)) for number in range(40_000))
SKIPPABLE_FRAME = struct.pack("<II", 0x184D2A50, 4) + b"meta"


def read(file, size: int | None = None) -> bytes:
    with closing(DecompressedStream(file)) as stream:
        return stream.read() if size is None else b"".join(iter(lambda: stream.read(size), b""))


def test_a_compressed_file_is_known_by_its_first_bytes_whatever_its_name(write, compress) -> None:
    file = write(compress(DATA), "data.txt")
    assert is_compressed(file)
    assert read(file) == read(file, 300_001) == DATA


@pytest.mark.parametrize("content", [b"", b"a", b"\x1f", b"BZ is no compression", DATA])
def test_other_files_are_given_as_they_are(write, content: bytes) -> None:
    file = write(content, "data.gz")
    assert not is_compressed(file)
    assert read(file) == read(file, 1000) == content


def test_several_members_or_frames_are_one_file(write, compress) -> None:
    file = write(compress(DATA[:1000]) + compress(b"") + compress(DATA[1000:]))
    assert read(file) == read(file, 777) == DATA


@pytest.mark.parametrize("codec", ["zst", "lz4"])
def test_frames_of_metadata_are_passed_over(write, compress) -> None:
    file = write(SKIPPABLE_FRAME + SKIPPABLE_FRAME + compress(DATA[:1000]) + SKIPPABLE_FRAME + compress(DATA[1000:]))
    assert is_compressed(file)
    assert read(file) == DATA


@pytest.mark.parametrize("cut", [1, 9, 0.5, 0.1])
def test_a_truncated_file_gives_what_is_whole_and_then_an_error_with_the_position(
    write, compress, codec: str, cut: float
) -> None:
    whole = compress(DATA)
    file = write(whole[: -cut if cut >= 1 else int(len(whole) * cut)])
    parts: list[bytes] = []
    with closing(DecompressedStream(file)) as stream, pytest.raises(ReadError) as caught:
        parts.extend(iter(lambda: stream.read(300_000), b""))
    received = b"".join(parts)
    assert DATA.startswith(received)
    assert len(received) > 0.2 * len(DATA) or cut == 0.1 or codec == "bz2"  # its blocks hold 900 kB
    assert f"{file.path}: byte {len(received)} of the decompressed data" in str(caught.value)
    assert f"(of {file.size} compressed bytes): truncated or damaged" in str(caught.value)


def test_a_file_cut_in_its_header_is_an_error(write, compress) -> None:
    with pytest.raises(ReadError, match="byte 0 of the decompressed data"):
        read(write(compress(DATA)[:8]))


def test_a_second_frame_that_is_cut_is_an_error(write, compress) -> None:
    first, second = compress(DATA[:100_000]), compress(DATA[100_000:])
    file = write(first + second[: len(second) // 2])
    with pytest.raises(ReadError, match="truncated or damaged"):
        read(file, 1 << 20)


@pytest.mark.parametrize("codec", ["gz", "bz2", "xz"])  # zstd and lz4 frames need not have checksums
def test_a_damaged_byte_is_an_error(write, compress) -> None:
    content = bytearray(compress(DATA))
    content[len(content) // 2] ^= 0xFF
    with pytest.raises(ReadError, match="truncated or damaged"):
        read(write(bytes(content)), 1 << 20)


def test_xz_streams_may_be_padded_with_zeros(write) -> None:
    content = lzma.compress(DATA[:1000]) + b"\0" * 8 + lzma.compress(DATA[1000:]) + b"\0" * 200_000
    assert read(write(content)) == DATA


def test_bytes_after_the_last_frame_are_an_error(write, compress) -> None:
    with pytest.raises(ReadError, match="truncated or damaged"):
        read(write(compress(DATA) + b"something else"), 1 << 20)


def test_a_remote_file_is_decompressed_too(memory) -> None:
    from raydata_ext.sources import list_files

    memory.pipe("/c/a.txt.zst", pa.compress(DATA, codec="zstd", asbytes=True))
    [file] = list_files("memory://c/a.txt.zst")
    assert read(file) == DATA
