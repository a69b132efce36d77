"""Token files of fairseq and Megatron."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raydata_ext.errors import NoMatchError, ReadError
from raydata_ext.sources import Piece, list_files, make_reader, scan_files
from raydata_ext.sources.token_file import TokenFileReader

if TYPE_CHECKING:
    from pathlib import Path

READER = TokenFileReader()
CODES = {"uint8": 1, "int32": 4, "int64": 5, "float64": 6, "float32": 7, "uint16": 8}


def write_tokens(stem: Path, items: list[list[int]], dtype: str = "uint16", *, megatron: bool = False) -> None:
    kind = np.dtype(dtype)
    sizes = np.array([len(item) for item in items], "<i4")
    pointers = np.concatenate([[0], np.cumsum(sizes)])[:-1].astype("<i8") * kind.itemsize
    header = struct.pack("<9sQBQ", b"MMIDIDX\0\0", 1, CODES[dtype], len(items))
    index = header + sizes.tobytes() + pointers.tobytes()
    if megatron:
        borders = np.arange(len(items) + 1, dtype="<i8")
        header += struct.pack("<Q", len(borders))
        index = header + sizes.tobytes() + pointers.tobytes() + borders.tobytes()
    stem.with_suffix(".idx").write_bytes(index)
    stem.with_suffix(".bin").write_bytes(b"".join(np.array(item, kind).tobytes() for item in items))


ITEMS = [[1, 2, 3], [], [65535], [7, 8]]


@pytest.mark.parametrize("megatron", [False, True])
@pytest.mark.parametrize("dtype", ["uint16", "int32", "int64", "float32", "float64"])
def test_items_are_rows_with_tokens_of_the_type_of_the_file(tmp_path: Path, rows, dtype: str, megatron: bool) -> None:
    write_tokens(tmp_path / "a", ITEMS, dtype, megatron=megatron)
    [file] = list_files(tmp_path / "a.bin")
    [batch] = READER.read(Piece(file))
    assert batch.schema == pa.schema([("input_ids", pa.list_(pa.from_numpy_dtype(dtype)))])
    assert batch.column(0).to_pylist() == ITEMS


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(st.lists(st.lists(st.integers(0, 255), max_size=9), max_size=20), st.integers(1, 30))
def test_the_rows_do_not_depend_on_how_a_file_is_split(tmp_path: Path, rows, items, max_bytes: int) -> None:
    write_tokens(tmp_path / "a", items, "uint8")
    [file] = list_files(tmp_path / "a.bin")
    pieces = READER.split(file, max_bytes)
    assert [row["input_ids"] for row in rows(READER, *pieces)] == items
    assert all(piece.num_bytes < max_bytes + 9 for piece in pieces)


def test_batches_are_bounded(tmp_path: Path) -> None:
    write_tokens(tmp_path / "a", [[1]] * 2500)
    write_tokens(tmp_path / "b", [[1] * (1 << 20)] * 9, "uint8")
    small, large = list_files([tmp_path / "a.bin", tmp_path / "b.bin"])
    assert [batch.num_rows for batch in READER.read(Piece(small))] == [1000, 1000, 500]
    assert [batch.num_rows for batch in READER.read(Piece(large))] == [4, 4, 1]


def test_a_directory_of_pairs_is_read(tmp_path: Path, rows) -> None:
    write_tokens(tmp_path / "b", [[3]])
    write_tokens(tmp_path / "a", [[1], [2]])
    source = scan_files(tmp_path)
    assert source.reader == READER
    found = [batch.column(0).to_pylist() for shard in source.shards for _, batch in shard.read()]
    assert found == [[[1], [2]], [[3]]]


def test_another_index_is_another_version_of_the_tokens(tmp_path: Path) -> None:
    def version() -> tuple[str, str]:
        [shard] = scan_files(tmp_path).shards
        return shard.pieces[0].file.version, READER.hash_piece(shard.pieces[0])

    write_tokens(tmp_path / "a", [[1, 2], [3]])
    before = version()
    tokens = (tmp_path / "a.bin").stat()
    write_tokens(tmp_path / "other", [[1], [2, 3]])
    (tmp_path / "other.idx").replace(tmp_path / "a.idx")
    (tmp_path / "other.bin").unlink()
    assert (tmp_path / "a.bin").stat() == tokens
    after = version()
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_one_changed_item_changes_only_its_own_piece(tmp_path: Path) -> None:
    write_tokens(tmp_path / "a", [[number] * 10 for number in range(4)])
    write_tokens(tmp_path / "b", [[number] * 10 for number in (0, 1, 9, 3)])
    before, after = (
        [READER.hash_piece(piece) for piece in READER.split(list_files(tmp_path / name)[0], 20)]
        for name in ("a.bin", "b.bin")
    )
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, True, False, True]


def test_a_missing_index_is_named(tmp_path: Path) -> None:
    write_tokens(tmp_path / "a", ITEMS)
    (tmp_path / "a.idx").unlink()
    with pytest.raises(NoMatchError, match=r"a\.bin: there is no index .*a\.idx beside it"):
        scan_files(tmp_path / "a.bin")


def test_damaged_files_are_errors_that_name_them(tmp_path: Path, rows) -> None:
    write_tokens(tmp_path / "a", ITEMS)
    whole, tokens = (tmp_path / "a.idx").read_bytes(), (tmp_path / "a.bin").read_bytes()
    for index, data, problem in (
        (b"x" + whole[1:], tokens, r"a\.idx: it does not begin with"),
        (whole[:-1], tokens, r"a\.idx: an index of 4 items has .* cut off or damaged"),
        (whole[:5], tokens, r"a\.idx: it does not begin with"),
        (whole, tokens[:-2], r"a\.idx: its index has 6 elements of uint16, so .* 12 bytes; it has 10"),
        (whole[:17] + b"\x63" + whole[18:], tokens, r"a\.idx: unknown type code 99"),
        (whole[:26] + struct.pack("<i", -1) + whole[30:], tokens, r"a\.idx: item 0 has the size -1"),
    ):
        (tmp_path / "a.idx").write_bytes(index)
        (tmp_path / "a.bin").write_bytes(data)
        [file] = list_files(tmp_path / "a.bin")
        with pytest.raises(ReadError, match=problem):
            rows(READER, file)


def test_the_column_may_have_another_name(tmp_path: Path, rows) -> None:
    write_tokens(tmp_path / "a", [[1]])
    assert rows(TokenFileReader(column="t"), *list_files(tmp_path / "a.bin")) == [{"t": [1]}]
    with pytest.raises(ValueError, match="token files have the column 'input_ids' alone"):
        make_reader("tokens", {"columns": ["t"]})


def test_remote_files_are_read(memory, tmp_path: Path, rows) -> None:
    write_tokens(tmp_path / "a", ITEMS)
    for name in ("a.bin", "a.idx"):
        memory.pipe(f"/c/{name}", (tmp_path / name).read_bytes())
    [shard] = scan_files("memory://c").shards
    assert [batch.column(0).to_pylist() for _, batch in shard.read()] == [ITEMS]
