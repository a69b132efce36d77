"""Byte ranges of text files as blocks of whole lines."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raydata_ext.errors import ReadError
from raydata_ext.sources import InputFile, Piece
from raydata_ext.sources.line_blocks import count_lines, cut_at_lines, hash_lines, line_blocks, split_at_lines

texts = st.text(alphabet="ab\r\n\u00e9", max_size=60).map(str.encode)
with_files = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def lines(content: bytes) -> list[bytes]:
    return [line + b"\n" for line in content.split(b"\n")[:-1]] + [rest for rest in [content.split(b"\n")[-1]] if rest]


@with_files
@given(texts, st.integers(1, 20), st.integers(1, 20))
def test_any_split_gives_every_line_once(write, content: bytes, max_bytes: int, block_bytes: int) -> None:
    pieces = split_at_lines(write(content), max_bytes)
    blocks = [block for piece in pieces for block in line_blocks(piece, block_bytes)]
    assert [line for _, block in blocks for line in lines(block)] == lines(content)
    assert all(content[offset : offset + len(block)] == block for offset, block in blocks)
    assert all(block.endswith(b"\n") for _, block in blocks[:-1])


@with_files
@given(texts, st.lists(st.integers(0, 70), max_size=6))
def test_any_borders_give_every_line_once(write, content: bytes, borders: list[int]) -> None:
    file = write(content)
    bounds = [0, *sorted(min(border, len(content)) for border in borders), len(content)]
    blocks = [
        block for start, end in pairwise(bounds) for _, block in line_blocks(Piece(file, start, end, end - start))
    ]
    assert [line for block in blocks for line in lines(block)] == lines(content)


def test_borders_stay_when_a_file_grows(write) -> None:
    before = split_at_lines(write(b"line\n" * 10), 20)
    after = split_at_lines(write(b"line\n" * 20), 20)
    assert [(p.start, p.end, p.num_bytes) for p in before] == [(0, 20, 20), (20, 40, 20), (40, 50, 10)]
    assert [(p.start, p.end) for p in after][:2] == [(0, 20), (20, 40)]


def test_a_compressed_file_is_not_split(write) -> None:
    file = write(gzip.compress(b"".join(b"%d\n" % number for number in range(1000))))
    assert split_at_lines(file, 10) == [Piece(file)]
    assert b"".join(block for _, block in line_blocks(Piece(file), 100)).count(b"\n") == 1000


def test_a_file_within_the_limit_is_not_opened(tmp_path: Path) -> None:
    file = InputFile(str(tmp_path / "not there"), "x", 10, "")
    assert split_at_lines(file, 10) == [Piece(file)]


def test_a_line_longer_than_a_range_belongs_to_the_range_it_begins_in(write) -> None:
    file = write(b"a\n" + b"b" * 100 + b"\nc\n")
    read = [b"".join(block for _, block in line_blocks(piece)) for piece in split_at_lines(file, 10)]
    assert read[0] == b"a\n" + b"b" * 100 + b"\n"
    assert read[1:-1] == [b""] * (len(read) - 2)
    assert read[-1] == b"c\n"


def test_a_line_much_longer_than_a_block_is_one_block(write) -> None:
    file = write(b"x" * (32 << 20))
    [(offset, block)] = line_blocks(Piece(file), 1 << 12)
    assert (offset, len(block)) == (0, 32 << 20)


def test_an_empty_file_has_no_blocks(write) -> None:
    assert list(line_blocks(Piece(write(b"")))) == []


def test_a_range_beyond_the_end_of_the_file_is_an_error(write) -> None:
    file = write(b"a\n" * 10)
    Path(file.path).write_bytes(b"a\n" * 9)
    unversioned = InputFile(file.path, file.name, file.size, "")
    with pytest.raises(ReadError, match=r"data\[10:20\]: the file is shorter than when it was listed"):
        list(line_blocks(Piece(unversioned, 10, 20, 10)))
    with pytest.raises(ReadError, match=r"data: changed since it was listed"):
        list(line_blocks(Piece(file, 10, 20, 10)))


def test_lines_are_counted_up_to_a_byte(write) -> None:
    file = write(b"a\nbb\n\nc")
    assert [count_lines(Piece(file), end) for end in (0, 1, 2, 5, 6, 7)] == [0, 0, 1, 2, 3, 3]


def test_the_hash_of_a_range_is_that_of_its_lines_wherever_they_lie(write) -> None:
    first = write(b"a\nb\nc\nd\n", "first")
    second = write(b"a\nb\nx\ny\nz\nc\nd\n", "second")
    assert hash_lines(Piece(first, 0, 4, 4)) == hash_lines(Piece(second, 0, 4, 4))
    assert hash_lines(Piece(first, 4, 8, 4)) == hash_lines(Piece(second, 10, 14, 4))
    assert hash_lines(Piece(first, 0, 4, 4)) != hash_lines(Piece(first, 4, 8, 4))


@pytest.mark.parametrize("size", [3, 4, 1000])
def test_a_last_line_without_end_is_of_the_block_before(write, size: int) -> None:
    """So that what a block says of types, it says of the last line too."""
    content = b"ab\ncd\nef"
    blocks = list(line_blocks(Piece(write(content)), size))
    assert b"".join(block for _, block in blocks) == content
    assert [offset for offset, _ in blocks] == [content.index(block) for _, block in blocks]
    if size == 1000:
        assert blocks == [(0, content)]


def test_reads_that_fall_short_do_not_end_a_line() -> None:
    parts = iter([b"a", b"b\nc", b"d", b"", b"never"])
    assert list(cut_at_lines(lambda _size: next(parts), 0, 100)) == [(0, b"ab\ncd")]
