"""Files to shards."""

from __future__ import annotations

import gzip
import pickle
import shutil
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from raydata_ext.errors import NoMatchError
from raydata_ext.sources import CompressedFile, FileShard, FileSource, scan_files

if TYPE_CHECKING:
    from pathlib import Path

MAX = 20_000


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """200 small text files in two directories."""
    for number in range(200):
        path = tmp_path / "corpus" / f"{number % 2}" / f"{number:03}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"document {number}\n" * 10)
    return tmp_path / "corpus"


def scan(corpus: Path, **options: object) -> FileSource:
    return scan_files(f"{corpus}/**/*.txt", max_shard_bytes=MAX, **{"unit": "file", **options})


def identity(shard: FileShard) -> str:
    found = shard.identity(shard.hash_piece)
    assert found is not None
    return found


def identities(corpus: Path, **options: object) -> list[str]:
    return [identity(shard) for shard in scan(corpus, **options).shards]


def texts(source: FileSource) -> list[str]:
    return [row["text"] for shard in source.shards for _, batch in shard.read() for row in batch.to_pylist()]


def test_shards_hold_all_files_in_order(corpus: Path) -> None:
    source = scan(corpus)
    names = [piece.file.name for shard in source.shards for piece in shard.pieces]
    assert names == sorted(names)
    assert (source.num_files, len(names)) == (200, 200)
    assert source.num_bytes == sum(path.stat().st_size for path in corpus.rglob("*.txt"))
    assert source.num_bytes == sum(shard.num_bytes for shard in source.shards)
    assert 20 < len(source.shards) < 120
    assert texts(source) == [(corpus / name).read_text() for name in names]


def test_one_added_file_leaves_the_other_shards(corpus: Path) -> None:
    before = identities(corpus)
    (corpus / "0" / "077b.txt").write_text("new\n")
    after = identities(corpus)
    assert 1 <= len(set(after) - set(before)) <= 3
    assert len(set(before) - set(after)) <= 3


def test_one_edited_file_changes_its_shard(corpus: Path) -> None:
    before = identities(corpus)
    (corpus / "0" / "076.txt").write_text("document x6\n" * 10)
    assert len(set(identities(corpus)) - set(before)) == 1


def test_a_moved_corpus_has_the_same_shards(corpus: Path, tmp_path: Path) -> None:
    before = identities(corpus)
    shutil.move(corpus, tmp_path / "other" / "place")
    assert identities(tmp_path / "other" / "place") == before


def test_another_path_in_the_list_leaves_the_shards_of_the_first(corpus: Path) -> None:
    def of(*directories: str) -> list[str]:
        source = scan_files([corpus / name for name in directories], max_shard_bytes=MAX)
        return [identity(shard) for shard in source.shards]

    assert of("0", "1") == of("0") + of("1")
    assert of("1", "0") == of("1") + of("0")


def test_names_are_part_of_the_identity_only_where_rows_hold_them(corpus: Path) -> None:
    (corpus / "2").mkdir()
    (corpus / "2" / "a.txt").write_text("same")
    (corpus / "2" / "b.txt").write_text("same")

    def both(**options: object) -> list[str]:
        shards = [scan_files(corpus / "2" / name, **options).shards for name in ("a.txt", "b.txt")]
        return [identity(shard) for [shard] in shards]

    assert len(set(both())) == 1
    assert len(set(both(path_column="path"))) == 2
    assert len(set(both(path_column="path", columns=["text"]))) == 1


def test_an_unknown_content_makes_the_identity_unknown(corpus: Path) -> None:
    shard = max(scan(corpus).shards, key=lambda shard: len(shard.pieces))
    assert shard.identity(lambda _: None) is None
    assert shard.identity(lambda piece: None if piece == shard.pieces[-1] else "x") is None


def test_large_files_are_split_and_lie_between_groups_of_small_ones(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("small\n")
    (tmp_path / "b.txt").write_text("large\n" * 10_000)
    (tmp_path / "c.txt").write_text("small\n")
    source = scan_files(tmp_path, max_shard_bytes=MAX)
    assert [len(shard.pieces) for shard in source.shards] == [1, 1, 1, 1, 1]
    assert [shard.pieces[0].start for shard in source.shards] == [0, 0, MAX, 2 * MAX, 0]
    assert texts(source) == ["small"] + ["large"] * 10_000 + ["small"]


def test_a_large_compressed_file_is_one_shard(tmp_path: Path) -> None:
    content = "".join(f"{number}\n" for number in range(50_000)).encode()
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(content))
    source = scan_files(tmp_path, max_shard_bytes=MAX)
    assert len(source.shards) == 1
    assert texts(source) == content.decode().split()


def test_a_shard_is_named_by_its_first_and_last_piece(corpus: Path) -> None:
    source = scan_files([corpus / "0/000.txt", corpus / "0/002.txt"])
    assert source.shards[0].label == f"{corpus}/0/000.txt .. {corpus}/0/002.txt (2 files)"
    source = scan_files(corpus / "0/000.txt", max_shard_bytes=50)
    assert source.shards[1].label == f"{corpus}/0/000.txt[50:100]"


def test_batches_come_with_the_label_of_their_file(corpus: Path) -> None:
    [shard] = scan_files([corpus / "0/000.txt", corpus / "0/002.txt"]).shards
    assert [label for label, _ in shard.read()] == [f"{corpus}/0/000.txt", f"{corpus}/0/002.txt"]
    assert shard.num_rows is None


def test_a_shard_travels_as_a_small_recipe(corpus: Path) -> None:
    shard = scan(corpus).shards[0]
    packed = pickle.dumps(shard)
    assert pickle.loads(packed) == shard
    assert len(packed) < 2000 + 300 * len(shard.pieces)


def test_format_and_columns_reach_the_reader(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "data.bin")
    source = scan_files(tmp_path, format="parquet", columns=["b"])
    [(_, batch)] = source.shards[0].read()
    assert batch.to_pylist() == [{"b": 2}]
    assert source.shards[0].digest == source.reader.digest


def test_wrong_arguments_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="max_shard_bytes is 0"):
        scan_files(tmp_path, max_shard_bytes=0)
    with pytest.raises(NoMatchError, match="no file matches"):
        scan_files(tmp_path / "*.txt")
    (tmp_path / "a.txt").touch()
    with pytest.raises(ValueError, match=r"columns: .*valid tuple"):
        scan_files(tmp_path, columns="text")


def test_a_big_compressed_file_of_lines_is_one_that_is_cut_when_it_is_decompressed(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"line\n" * 1000) + b"\0" * MAX)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"line\n" * 1000))
    (tmp_path / "c.txt").write_bytes(b"line\n")
    packed, small = scan_files(f"{tmp_path}/*", max_shard_bytes=MAX).shards
    assert isinstance(packed, CompressedFile)
    assert (packed.label, packed.part_bytes) == (f"{tmp_path}/a.txt.gz", MAX)
    assert [piece.file.name for piece in small.pieces] == ["b.txt.gz", "c.txt"]
    whole = scan_files(f"{tmp_path}/*", max_shard_bytes=MAX, unit="file").shards[0]
    assert not isinstance(whole, CompressedFile)
    assert pickle.loads(pickle.dumps(packed)) == packed


def test_a_compressed_file_is_told_by_its_content_where_the_name_does_not_say_so(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(gzip.compress(bytes(range(256)) * 10, 0) * 10)
    [shard] = scan_files(f"{tmp_path}/*", max_shard_bytes=MAX).shards
    assert isinstance(shard, CompressedFile)


def test_compressed_files_count_four_times(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / f"{number}.txt.gz").write_bytes(gzip.compress(b"line\n") + b"\0" * 4900)
    shards = scan_files(f"{tmp_path}/*", max_shard_bytes=2 * MAX).shards
    assert max(shard.num_bytes for shard in shards) <= MAX // 2


def test_the_arguments_of_hugging_face_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="the paths come first, and the format is format='json'"):
        scan_files("json", data_files="a.jsonl")
