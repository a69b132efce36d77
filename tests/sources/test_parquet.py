"""Parquet files."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raydata_ext.errors import DamagedInputError, ReadError
from raydata_ext.sources import Piece, list_files, scan_files
from raydata_ext.sources.parquet import ParquetReader

READER = ParquetReader()


@pytest.fixture
def store(tmp_path: Path):
    """Write a table to a Parquet file and give it as an input file."""

    def store(table: pa.Table, name: str = "data.parquet", **options: object):
        pq.write_table(table, tmp_path / name, **options)
        [file] = list_files(tmp_path / name)
        return file

    return store


def numbers(count: int) -> pa.Table:
    return pa.table({"n": range(count), "text": [f"row {number}" for number in range(count)]})


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(st.integers(0, 60), st.integers(1, 20), st.integers(1, 2000))
def test_the_rows_do_not_depend_on_how_a_file_is_split(store, rows, count: int, group: int, max_bytes: int) -> None:
    file = store(numbers(count), row_group_size=group)
    pieces = READER.split(file, max_bytes)
    assert rows(READER, *pieces) == numbers(count).to_pylist()
    assert len(pieces) <= max(1, -(-count // group))


def test_a_large_file_is_split_at_row_groups_by_bytes_on_disk(store) -> None:
    values = np.random.default_rng(1).bytes(8000)
    table = pa.table({"b": [values[start : start + 80] for start in range(0, 8000, 80)]})
    file = store(table, row_group_size=10, use_dictionary=False, write_statistics=False)
    pieces = READER.split(file, 2000)
    assert [(piece.start, piece.end) for piece in pieces] == [(0, 2), (2, 4), (4, 6), (6, 8), (8, 10)]
    assert all(1600 < piece.num_bytes <= 2000 for piece in pieces)
    assert READER.split(file, file.size) == [Piece(file)]


def test_batches_are_small(store) -> None:
    sizes = [batch.num_rows for batch in READER.read(Piece(store(numbers(2500))))]
    assert sizes == [1000, 1000, 500]


def test_columns_are_chosen_and_ordered(store, rows) -> None:
    table = pa.table({"a": [1], "b.c": [2], "b": [{"c": 3, "d": 4}]})
    file = store(table)
    assert rows(ParquetReader(columns=("b", "a")), file) == [{"b": {"c": 3, "d": 4}, "a": 1}]
    assert list(rows(ParquetReader(columns=("b", "a")), file)[0]) == ["b", "a"]
    assert rows(ParquetReader(columns=("b.c",)), file) == [{"b.c": 2}]
    with pytest.raises(ReadError, match=r"data\.parquet: no column 'x'; the file has \['a', 'b\.c', 'b'\]"):
        rows(ParquetReader(columns=("x",)), file)


@pytest.mark.parametrize("table", [numbers(0), pa.table({"a": pa.array([], pa.list_(pa.int8()))})])
def test_a_file_without_rows_still_has_its_schema(store, table: pa.Table) -> None:
    file = store(table)
    for piece in (Piece(file), *READER.split(file, 1)):
        [batch] = READER.read(piece)
        assert batch.num_rows == 0
        assert batch.schema.equals(table.schema)


def test_nested_and_dictionary_columns_come_back(store) -> None:
    table = pa.table(
        {
            "d": pa.array(["x", None, "y", "x"]).dictionary_encode(),
            "l": [[{"a": 1}], [], None, [{"a": None}, None]],
            "m": pa.array([[("k", 1)], [], None, []], pa.map_(pa.string(), pa.int32())),
            "t": pa.array([0, 1, 2, None], pa.timestamp("us", "UTC")),
        }
    )
    file = store(table, row_group_size=2)
    found = pa.Table.from_batches(batch for piece in READER.split(file, 1) for batch in READER.read(piece))
    assert found.schema.equals(table.schema)
    assert found.to_pylist() == table.to_pylist()


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "brotli", "zstd", "lz4"])
def test_every_compression_of_columns_is_read_and_hashed_and_a_cut_is_an_error(store, write, rows, codec: str) -> None:
    table = numbers(5000)
    file = store(table, row_group_size=1000, compression=codec)
    pieces = READER.split(file, file.size // 3)
    assert rows(READER, *pieces) == table.to_pylist()
    assert len({READER.hash_piece(piece) for piece in pieces}) == len(pieces) > 1
    with pytest.raises(ReadError, match="truncated or damaged"):
        rows(READER, write(Path(file.path).read_bytes()[:-100], "cut.parquet"))


@pytest.mark.parametrize("content", [b"", b"PAR1", b"no parquet at all", b"PAR1" + b"\0" * 100 + b"PAR1"])
def test_a_foreign_file_is_an_error_that_names_it(write, rows, content: bytes) -> None:
    file = write(content)
    with pytest.raises(DamagedInputError, match=f"{file.path}: not a Parquet file, or truncated or damaged"):
        rows(READER, file)
    assert READER.split(file, -1) == [Piece(file)]  # so that it is an error, or set aside, when it is read


def test_a_truncated_file_is_an_error(store, write, rows) -> None:
    content = Path(store(numbers(1000)).path).read_bytes()
    for size in (len(content) - 1, len(content) // 2, 10):
        with pytest.raises(ReadError, match="truncated"):
            rows(READER, write(content[:size]))


def test_a_damaged_page_is_an_error_where_there_are_checksums(store, write, rows) -> None:
    content = bytearray(Path(store(numbers(1000), write_page_checksum=True, compression="none").path).read_bytes())
    content[200] ^= 0xFF
    with pytest.raises(ReadError, match="data: not a Parquet file, or truncated or damaged"):
        rows(READER, write(bytes(content)))


def test_one_changed_row_group_changes_only_its_own_hash(store) -> None:
    table = numbers(40)
    changed = table.set_column(0, "n", pa.array([*range(25), -1, *range(26, 40)]))
    first, second = store(table, "1.parquet", row_group_size=10), store(changed, "2.parquet", row_group_size=10)
    before = [READER.hash_piece(piece) for piece in READER.split(first, 1)]
    after = [READER.hash_piece(piece) for piece in READER.split(second, 1)]
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, True, False, True]
    assert len(set(before)) == 4


def test_a_changed_schema_changes_the_hash_of_every_row_group(store) -> None:
    first = store(pa.table({"a": [1, 2]}), "1.parquet", row_group_size=1)
    second = store(pa.table({"b": [1, 2]}), "2.parquet", row_group_size=1)
    hashes = [READER.hash_piece(Piece(file, 0, 1, 1)) for file in (first, second)]
    assert hashes[0] != hashes[1]


def test_remote_files_are_read_and_split(memory, store, rows) -> None:
    memory.pipe("/c/a.parquet", Path(store(numbers(30), row_group_size=10).path).read_bytes())
    [file] = list_files("memory://c/a.parquet")
    pieces = READER.split(file, 1)
    assert len(pieces) == 3
    assert rows(READER, *pieces) == numbers(30).to_pylist()


def partitioned(root: Path) -> Path:
    table = pa.table({"n": [1, 2, 3, 4], "year": [2023, 2023, 2024, 2024], "lang": ["de", "en", "de", None]})
    pq.write_to_dataset(table, root, partition_cols=["year", "lang"])
    return root


def test_a_file_whose_name_is_not_utf8_is_read_and_hashed(tmp_path: Path, rows) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.parquet")
    with path.open("wb") as file:
        pq.write_table(numbers(3), file)
    [file] = list_files(tmp_path)

    assert rows(READER, file) == numbers(3).to_pylist()
    assert len(READER.hash_piece(*READER.split(file, 1))) == 32


def test_directories_of_key_and_value_are_typed_columns(tmp_path: Path) -> None:
    source = scan_files(partitioned(tmp_path / "hive"))
    batches = [batch for shard in source.shards for _, batch in shard.read()]
    assert {batch.schema for batch in batches} == {
        pa.schema([("n", pa.int64()), ("year", pa.int64()), ("lang", pa.string())])
    }
    found = sorted((row["n"], row["year"], row["lang"]) for batch in batches for row in batch.to_pylist())
    assert found == [(1, 2023, "de"), (2, 2023, "en"), (3, 2024, "de"), (4, 2024, None)]


def test_a_partition_column_counts_as_content_where_it_is_read(tmp_path: Path) -> None:
    def identities(**options: object) -> set[str | None]:
        shards = scan_files(tmp_path, max_shard_bytes=1, **options).shards
        return {shard.identity(lambda _: "the same") for shard in shards}

    for year in (2023, 2024):
        (tmp_path / f"year={year}").mkdir()
        pq.write_table(numbers(1), tmp_path / f"year={year}" / "a.parquet")
    assert len(identities()) == 2
    assert len(identities(columns=["n"])) == 1
    assert len(identities(hive=False)) == 1


def test_partition_columns_are_chosen_alone_or_in_any_order(tmp_path: Path) -> None:
    partitioned(tmp_path / "hive")
    for columns in (["year"], ["lang", "n"]):
        source = scan_files(f"{tmp_path}/hive/*/lang=de/*.parquet", columns=columns)
        rows = [row for shard in source.shards for _, batch in shard.read() for row in batch.to_pylist()]
        assert [list(row) for row in rows] == [columns, columns]
    assert [row["n"] for row in rows] == [1, 3]
    with pytest.raises(ReadError, match=r"no column 'year'; the file has \['n'\]"):
        list(scan_files(tmp_path / "hive", columns=["year"], hive=False).shards[0].read())


def test_types_of_partition_columns_may_be_given(tmp_path: Path) -> None:
    source = scan_files(partitioned(tmp_path / "hive"), partition_types={"year": "string", "lang": "large_string"})
    assert source.shards[0].reader.partition_types == {"year": "string", "lang": "large_string"}
    [batch, *_] = [batch for _, batch in source.shards[0].read()]
    assert batch.schema.types == [pa.int64(), pa.string(), pa.large_string()]
    with pytest.raises(ValueError, match="partition_types"):
        scan_files(tmp_path / "hive", partition_types={"year": "number"})


def test_a_partition_column_takes_the_place_of_one_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "year=2024").mkdir()
    pq.write_table(pa.table({"year": ["wrong"], "n": [1]}), tmp_path / "year=2024" / "a.parquet")
    [shard] = scan_files(tmp_path).shards
    assert [batch.to_pylist() for _, batch in shard.read()] == [[{"n": 1, "year": 2024}]]
