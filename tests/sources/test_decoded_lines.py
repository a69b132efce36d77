"""Decompressed lines in a file of their own."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from raydata_ext.sources.decoded_lines import LINES_SCHEMA, batch_of_lines, read_decoded_lines
from raydata_ext.sources.input_file import CompressedRange
from raydata_ext.sources.line_blocks import line_blocks
from raydata_ext.table.ipc_writer import ShardWriter
from raydata_ext.table.verify import verify_ipc_file

if TYPE_CHECKING:
    from pathlib import Path


def write_lines(path: Path, *blocks: bytes) -> str:
    with ShardWriter(path, LINES_SCHEMA, batch_rows=1) as writer:
        for block in blocks:
            writer.write(batch_of_lines(block))
    return str(path)


def test_blocks_come_back_with_their_offsets(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "lines.arrow", b"a\nb\n", b"c\n", b"last")
    assert list(read_decoded_lines(path, 100)) == [(100, b"a\nb\n"), (104, b"c\n"), (106, b"last")]
    assert verify_ipc_file(path).batches == 3


def test_a_part_without_lines_is_a_file_too(tmp_path: Path) -> None:
    assert list(read_decoded_lines(write_lines(tmp_path / "lines.arrow"), 0)) == []


def test_a_range_is_read_from_there_and_from_the_file_itself_once_they_are_gone(write, tmp_path: Path) -> None:
    file = write(gzip.compress(b"one\ntwo\nthree\n"), "data.gz")
    path = write_lines(tmp_path / "lines.arrow", b"TWO\n")
    assert list(line_blocks(CompressedRange(file, 4, 8, 1, path))) == [(4, b"TWO\n")]
    (tmp_path / "lines.arrow").unlink()
    assert list(line_blocks(CompressedRange(file, 4, 8, 1, path))) == [(4, b"two\n")]
