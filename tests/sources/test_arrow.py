"""Arrow IPC files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raydata_ext.errors import DamagedInputError, ReadError
from raydata_ext.sources import Piece, list_files
from raydata_ext.sources.arrow import ArrowReader

READER = ArrowReader()
FORMATS = {"stream": pa.ipc.new_stream, "file": pa.ipc.new_file}
both_formats = pytest.mark.parametrize("kind", FORMATS)


@pytest.fixture
def store(tmp_path: Path):
    """Write batches to an Arrow file and give it as an input file."""

    def store(batches: list[pa.RecordBatch], kind: str, name: str = "data.arrow", **options: object):
        with FORMATS[kind](tmp_path / name, batches[0].schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
            for batch in batches:
                writer.write_batch(batch)
        [file] = list_files(tmp_path / name)
        return file

    return store


def numbers(*sizes: int) -> list[pa.RecordBatch]:
    bounds = [sum(sizes[:count]) for count in range(len(sizes) + 1)]
    return [
        pa.record_batch(
            {"n": pa.array(range(low, high), pa.int64()), "t": pa.array(map(str, range(low, high)), pa.string())}
        )
        for low, high in pairwise(bounds)
    ]


def plain(batches: list[pa.RecordBatch]) -> list[dict[str, object]]:
    return [row for batch in batches for row in batch.to_pylist()]


def test_a_name_that_is_no_unicode_is_a_name(store, tmp_path: Path) -> None:
    store(numbers(3), "stream")
    (tmp_path / "data.arrow").rename(tmp_path / "bad\udcff.arrow")
    [file] = list_files(tmp_path)
    assert plain(list(ArrowReader().read(Piece(file)))) == plain(numbers(3))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(
    st.sampled_from(sorted(FORMATS)),
    st.lists(st.integers(0, 20), min_size=1, max_size=8),
    st.integers(1, 3000),
    st.sampled_from([None, "lz4"]),
)
def test_the_rows_do_not_depend_on_how_a_file_is_split(store, rows, kind, sizes, max_bytes, compression) -> None:
    file = store(numbers(*sizes), kind, compression=compression)
    pieces = READER.split(file, max_bytes)
    assert rows(READER, *pieces) == plain(numbers(*sizes))
    assert all(piece.num_bytes <= max_bytes or piece.end - piece.start == 1 for piece in pieces if piece.end)


@both_formats
def test_a_large_file_is_split_at_batches_by_bytes_on_disk(store, kind: str) -> None:
    file = store(numbers(*[100] * 10), kind)
    pieces = READER.split(file, file.size // 3)
    assert [(piece.start, piece.end) for piece in pieces] == [(0, 3), (3, 6), (6, 9), (9, 10)]
    assert READER.split(file, file.size) == [Piece(file)]


@both_formats
def test_columns_are_chosen_and_ordered(store, rows, kind: str) -> None:
    file = store(numbers(2), kind)
    found = rows(ArrowReader(columns=("t", "n")), file)
    assert found == [{"t": "0", "n": 0}, {"t": "1", "n": 1}]
    assert list(found[0]) == ["t", "n"]
    with pytest.raises(ReadError, match=r"data\.arrow: no column 'x'; the file has \['n', 't'\]"):
        rows(ArrowReader(columns=("x",)), file)


@both_formats
def test_a_file_without_rows_still_has_its_schema(store, tmp_path: Path, kind: str) -> None:
    schema = pa.schema([("a", pa.list_(pa.int8()))])
    with FORMATS[kind](tmp_path / "none.arrow", schema):
        pass
    [file] = list_files(tmp_path / "none.arrow")
    for piece in (Piece(file), *READER.split(file, 1)):
        [batch] = READER.read(piece)
        assert (batch.num_rows, batch.schema) == (0, schema)


@both_formats
def test_dictionary_columns_come_back(store, rows, kind: str) -> None:
    batches = [pa.record_batch({"d": pa.array(["x", "y", None, "x"]).dictionary_encode()})] * 3
    file = store(batches, kind)
    assert rows(READER, *READER.split(file, 1)) == plain(batches)
    assert next(READER.read(Piece(file))).schema == batches[0].schema


def test_dictionaries_that_grow_or_are_replaced_come_back(store, rows) -> None:
    batches = [pa.record_batch({"d": pa.array(words).dictionary_encode()}) for words in (["a"], ["a", "b"], ["c", "a"])]
    for deltas in (True, False):
        file = store(batches, "stream", f"{deltas}.arrow", emit_dictionary_deltas=deltas)
        pieces = READER.split(file, 1)
        assert len(pieces) == 3
        assert rows(READER, *pieces) == plain(batches)


@both_formats
def test_every_truncation_is_an_error(store, write, rows, kind: str) -> None:
    content = Path(store(numbers(5, 5, 5), kind).path).read_bytes()
    for size in range(0, len(content), 7):
        with pytest.raises(ReadError, match="data: not an Arrow IPC file, or truncated or damaged"):
            rows(READER, write(content[:size]))


def test_a_foreign_file_is_an_error(write, rows) -> None:
    for content in (b"no arrow at all", b'{"a": 1}\n' * 100, b"ARROW1", b"PAR1" + b"\0" * 1000):
        file = write(content)
        with pytest.raises(DamagedInputError, match="data: not an Arrow IPC file"):
            rows(READER, file)
        assert READER.split(file, 1) == [Piece(file)]  # so that it is an error, or set aside, when it is read


@both_formats
def test_one_changed_batch_changes_only_its_own_hash(store, kind: str) -> None:
    changed = numbers(10, 10, 10)
    changed[1] = pa.record_batch({"n": [*range(10, 19), -1], "t": [str(n) for n in range(10, 20)]})
    first, second = store(numbers(10, 10, 10), kind, "1.arrow"), store(changed, kind, "2.arrow")
    before = [READER.hash_piece(piece) for piece in READER.split(first, 1)]
    after = [READER.hash_piece(piece) for piece in READER.split(second, 1)]
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False, True]
    assert len(set(before)) == 3


@both_formats
def test_a_changed_dictionary_or_schema_changes_the_hash(store, kind: str) -> None:
    def hashes(name: str, column: str, words: list[str]) -> list[str]:
        batches = [pa.record_batch({column: pa.array(words).dictionary_encode()})] * 2
        return [READER.hash_piece(piece) for piece in READER.split(store(batches, kind, name), 1)]

    first, other_word, other_name = (
        hashes("1", "d", ["a", "b"]),
        hashes("2", "d", ["a", "c"]),
        hashes("3", "e", ["a", "b"]),
    )
    assert not set(first) & set(other_word)
    assert not set(first) & set(other_name)


@both_formats
def test_remote_files_are_read_and_split(memory, store, rows, kind: str) -> None:
    memory.pipe("/c/a.arrow", Path(store(numbers(10, 10), kind).path).read_bytes())
    [file] = list_files("memory://c/a.arrow")
    assert len(READER.split(file, 1)) == 2
    assert rows(READER, *READER.split(file, 1)) == rows(READER, file) == plain(numbers(10, 10))
