"""Input files and their pieces."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from raydata_ext.errors import ReadError
from raydata_ext.sources import InputFile, Piece


def test_a_file_that_changed_since_it_was_listed_is_not_read(write) -> None:
    file = write(b"abc")
    Path(file.path).write_bytes(b"abcd")
    with pytest.raises(ReadError, match=r"data: changed since it was listed \(3 bytes then, 4 now\)"):
        file.open()


def test_a_file_that_was_touched_since_it_was_listed_is_not_read(write) -> None:
    file = write(b"abc")
    os.utime(file.path, ns=(1, 1))
    with pytest.raises(ReadError, match="changed since"):
        file.open()


def test_a_file_that_is_gone_is_a_read_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"gone: cannot be opened .*list the source again"):
        InputFile(str(tmp_path / "gone"), "gone", 3, "").open()
    with pytest.raises(ReadError, match="memory:///gone: cannot be opened"):
        InputFile("memory:///gone", "gone", 3, "").open()


def test_the_version_tells_time_or_tag() -> None:
    assert InputFile("/a", "a", 1, "12:34").modified_ns == 12
    assert not InputFile("/a", "a", 1, "12:34").has_etag
    tagged = InputFile("s3://b/a", "a", 1, "etag:ETag:12")
    assert tagged.has_etag
    assert tagged.modified_ns is None
    assert InputFile("s3://b/a", "a", 1, "").modified_ns is None


def test_a_piece_is_named_and_sized_as_a_part_or_a_whole() -> None:
    file = InputFile("/c/a.txt", "a.txt", 100, "")
    assert (Piece(file).label, Piece(file).num_bytes) == ("/c/a.txt", 100)
    part = Piece(file, 10, 30, 20)
    assert (part.label, part.num_bytes) == ("/c/a.txt[10:30]", 20)
