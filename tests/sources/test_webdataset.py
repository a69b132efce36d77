"""WebDataset tar files."""

from __future__ import annotations

import gzip
import io
import tarfile
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from raydata_ext.errors import ReadError
from raydata_ext.sources import Piece
from raydata_ext.sources.webdataset import WebDatasetReader

if TYPE_CHECKING:
    from raydata_ext.sources.reader import BadRow

READER = WebDatasetReader()


def tar(*files: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


SAMPLES = tar(
    ("d/a.jpg", b"\xff\xd8"),
    ("d/a.TXT", "größe".encode()),
    ("d/a.json", b'{"n": 1,\n "tags": ["x"]}'),
    ("d/a.cls", b" 7\n"),
    ("d/b.jpg", b"\xff"),
    ("d/b.seg.png", b"png"),
    ("d/b.json", b'{"n": 2.5, "late": null}'),
)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_files_of_a_name_are_a_sample(write, rows, pack) -> None:
    assert rows(READER, write(pack(SAMPLES))) == [
        {
            "__key__": "d/a",
            "jpg": b"\xff\xd8",
            "txt": "größe",
            "json": {"n": 1.0, "tags": ["x"], "late": None},
            "cls": 7,
            "seg.png": None,
        },
        {
            "__key__": "d/b",
            "jpg": b"\xff",
            "txt": None,
            "json": {"n": 2.5, "tags": None, "late": None},
            "cls": None,
            "seg.png": b"png",
        },
    ]


def test_bytes_are_left_as_they_are_where_asked_for(write, rows) -> None:
    [first, _] = rows(WebDatasetReader(decode=False, columns=("cls", "txt", "__key__")), write(SAMPLES))
    assert list(first.items()) == [("cls", b" 7\n"), ("txt", "größe".encode()), ("__key__", "d/a")]


def test_a_column_that_no_sample_has_is_null(write, rows) -> None:
    assert rows(WebDatasetReader(columns=("__key__", "wav")), write(SAMPLES)) == [
        {"__key__": "d/a", "wav": None},
        {"__key__": "d/b", "wav": None},
    ]


def test_json_may_be_any_value_and_is_typed_as_json_lines_are(write) -> None:
    file = write(tar(("a.json", b"[1, 2]"), ("b.json", b"null"), ("c.json", b"[]"), ("d.txt", b"")))
    [batch] = READER.read(Piece(file))
    assert batch.schema.field("json").type == pa.list_(pa.int64())
    assert batch.column("json").to_pylist() == [[1, 2], None, [], None]


def test_batches_are_bounded(write) -> None:
    files = [(f"{number}.bin", bytes(1 << 20)) for number in range(9)]
    assert [batch.num_rows for batch in READER.read(Piece(write(tar(*files))))] == [4, 4, 1]
    files = [(f"{number}.txt", b"x") for number in range(1500)]
    assert [batch.num_rows for batch in READER.read(Piece(write(tar(*files))))] == [1000, 500]


def test_an_empty_tar_file_has_no_rows(write) -> None:
    [batch] = READER.read(Piece(write(tar())))
    assert batch.num_rows == 0
    assert batch.schema.names == ["__key__"]


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ([("a.txt", b"x"), ("b.txt", b"\xff")], r"'b\.txt' \(from byte 1024\): not UTF-8"),
        ([("a.json", b"{")], r"'a\.json' \(from byte 0\): not JSON"),
        ([("a.cls", b"x")], r"'a\.cls' \(from byte 0\): not an integer .*; set decode=False"),
        ([("a.txt", b"x"), ("a.TXT", b"y")], r"'a\.TXT' .*: the sample 'a' has a file of this name already"),
        ([("README", b"x")], r"'README' .*: a name needs a dot"),
        ([("d/.hidden", b"x")], r"'d/\.hidden' .*: a name needs a dot"),
        ([("a.json", b'{"n": 1}'), ("b.json", b'{"n": "x"}')], r"'b\.json' \(from byte 1024\): .*one kind"),
    ],
)
def test_a_fault_is_named_with_member_and_byte(write, rows, files, problem: str) -> None:
    with pytest.raises(ReadError, match=f"data: {problem}"):
        rows(READER, write(tar(*files)))


def test_a_truncated_file_is_an_error(write, rows) -> None:
    with pytest.raises(ReadError, match=r"data: .*cut off"):
        rows(READER, write(SAMPLES[:3000]))


def test_bad_samples_are_set_aside_one_by_one(write) -> None:
    file = write(
        tar(
            ("a.json", b'{"n": 1}'),
            ("a.txt", b"fine"),
            ("README", b"x"),
            ("b.json", b"{"),
            ("c.json", b'{"n": "x"}'),
            ("d.txt", b"\xff"),
            ("d.json", b'{"n": 2}'),
            ("e.json", b'{"n": 3}'),
        )
    )
    bad: list[BadRow] = []
    rows = [row for batch in READER.read(Piece(file), bad.append) for row in batch.to_pylist()]
    assert rows == [
        {"__key__": "a", "json": {"n": 1}, "txt": "fine"},
        {"__key__": "e", "json": {"n": 3}, "txt": None},
    ]
    assert sorted((row.row, row.byte_offset, row.raw) for row in bad) == [
        (1, 2048, "README"),
        (2, 3072, "b"),
        (3, 4096, "c"),
        (4, 5120, "d"),
    ]
