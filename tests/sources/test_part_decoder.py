"""A compressed file, part after part."""

from __future__ import annotations

import gzip
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raydata_ext.errors import ReadError
from raydata_ext.sources.input_file import CompressedRange, InputFile
from raydata_ext.sources.line_blocks import BLOCK_BYTES, hash_lines, line_blocks, new_lines_hash, split_at_lines
from raydata_ext.sources.part_decoder import PartDecoder

with_files = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=100)
texts = st.text(alphabet="ab\r\n\u00e9", max_size=80).map(str.encode)

Parts = list[tuple[int, int, bytes]]


def parts(file: InputFile, part_bytes: int, found: Parts | None = None) -> Parts:
    """Start, end and bytes of each part; those that came out before an error are in `found`."""
    found = [] if found is None else found
    with closing(PartDecoder(file, part_bytes)) as decoder:
        while not found or not decoder.is_at_end():
            start = decoder.position
            lines = b"".join(block for _, block in decoder.blocks())
            found.append((start, decoder.position, lines))
    return found


@with_files
@given(texts, st.integers(1, 30))
def test_the_parts_are_the_ranges_of_the_decompressed_file(write, content: bytes, part_bytes: int) -> None:
    pieces = split_at_lines(write(content, "plain"), part_bytes)
    plain = [b"".join(block for _, block in line_blocks(piece)) for piece in pieces]
    found = parts(write(gzip.compress(content), "data.gz"), part_bytes)
    assert [lines for _, _, lines in found if lines] == [lines for lines in plain if lines]
    assert all(content[start:end] == lines for start, end, lines in found)
    assert [start for start, _, _ in found[1:]] == [end for _, end, _ in found[:-1]]
    assert found[-1][1] == len(content)


def test_every_compression_is_cut_alike(write, compress, codec: str) -> None:
    content = b"".join(b"line %d\n" % number for number in range(5000))
    file = write(compress(content), f"data.{codec}")
    found = parts(file, 10_000)
    assert b"".join(lines for _, _, lines in found) == content
    assert [start // 10_000 for start, _, _ in found] == list(range(len(found)))


@with_files
@given(texts, st.integers(1, 30), st.data())
def test_a_part_can_be_read_without_those_before(write, content: bytes, part_bytes: int, data) -> None:
    file = write(gzip.compress(content), "data.gz")
    start, end, lines = data.draw(st.sampled_from(parts(file, part_bytes)))
    with closing(PartDecoder(file, part_bytes)) as decoder:
        decoder.skip_to(start)
        assert b"".join(block for _, block in decoder.blocks()) == lines
    piece = CompressedRange(file, start, end, 1)
    assert b"".join(block for _, block in line_blocks(piece)) == lines
    digest = new_lines_hash(start)
    digest.update(lines)
    assert hash_lines(piece) == digest.hexdigest()


def test_blocks_are_the_same_however_they_are_come_by(write) -> None:
    content = b"".join(b"%07d " % number + b"x" * (number % 300) + b"\n" for number in range(100_000))
    part_bytes = 3 * BLOCK_BYTES // 2
    plain, packed = write(content, "plain"), write(gzip.compress(content, 1), "data.gz")
    expected = [block for piece in split_at_lines(plain, part_bytes) for block in line_blocks(piece)]
    with closing(PartDecoder(packed, part_bytes)) as decoder:
        assert [block for _ in range(3) for block in decoder.blocks()] == expected
        assert decoder.is_at_end()
    ranges = [(start, end) for start, end, _ in parts(packed, part_bytes)]
    assert [b for start, end in ranges for b in line_blocks(CompressedRange(packed, start, end, 1))] == expected


def test_damage_is_reported_by_the_part_that_it_is_in_and_the_parts_before_come_out(write) -> None:
    content = b"".join(b"%d %d\n" % (number, number * 7919 % 10_007) for number in range(20_000))
    whole = gzip.compress(content)
    expected = parts(write(whole, "whole.gz"), 20_000)
    file = write(whole[: len(whole) // 2], "data.gz")
    found: Parts = []
    with pytest.raises(
        ReadError, match=r"data\.gz: byte \d+ of the decompressed data .*truncated or damaged"
    ) as caught:
        parts(file, 20_000, found)
    damaged_at = int(str(caught.value).split(" byte ")[1].split()[0])
    assert found == [part for part in expected if part[1] <= damaged_at]
    assert len(found) > 1
    rest = CompressedRange(file, found[-1][1], None, 1)
    assert rest.label == f"{file.path}[{found[-1][1]}:]"
    with pytest.raises(ReadError, match="truncated or damaged"):
        list(line_blocks(rest))
