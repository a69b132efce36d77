"""Corpora in an object store."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import s3fs

import raydata_ext as rdx
from raydata_ext.errors import NoMatchError
from raydata_ext.sources import list_files, scan_files

ROWS = [{"n": number, "text": f"row {number}"} for number in range(1000)]


def lines() -> bytes:
    return "".join(json.dumps(row) + "\n" for row in ROWS).encode()


def rows_of(paths: object, **options: object) -> list[dict[str, object]]:
    shards = scan_files(paths, **options).shards
    return [row for shard in shards for _, batch in shard.read() for row in batch.to_pylist()]


@pytest.fixture
def corpus(s3, bucket: str) -> str:
    s3.pipe(f"{bucket}/c/a.jsonl", lines())
    s3.pipe(f"{bucket}/c/deep/b.jsonl.gz", gzip.compress(lines()))
    s3.pipe(f"{bucket}/c/_SUCCESS", b"")
    return f"{bucket}/c"


def test_objects_are_listed_by_directory_pattern_and_list(s3, corpus: str) -> None:
    both = [f"{corpus}/a.jsonl", f"{corpus}/deep/b.jsonl.gz"]
    assert [file.path for file in list_files(corpus)] == both
    assert [file.path for file in list_files(f"{corpus}/**/*.jsonl*")] == both
    s3.pipe(f"{corpus}.txt", b"c/a.jsonl\n")
    assert [file.path for file in list_files(f"@{corpus}.txt")] == both[:1]


def test_objects_that_others_wrote_since_are_listed(s3, s3_endpoint: str, corpus: str) -> None:
    before = len(list_files(corpus))
    other = s3fs.S3FileSystem(skip_instance_cache=True)
    other.pipe(f"{corpus}/new.jsonl", lines())
    assert len(list_files(corpus)) == before + 1


def test_objects_are_split_and_read(corpus: str) -> None:
    assert rows_of(corpus, max_shard_bytes=1000) == ROWS + ROWS
    assert len(scan_files(f"{corpus}/a.jsonl", max_shard_bytes=1000).shards) == len(lines()) // 1000 + 1


def test_parquet_is_read_by_row_groups(s3, bucket: str) -> None:
    with s3.open(f"{bucket}/p/year=2024/a.parquet", "wb") as stream:
        pq.write_table(pa.Table.from_pylist(ROWS), stream, row_group_size=100)
    source = scan_files(f"{bucket}/p", max_shard_bytes=1000)
    assert len(source.shards) == 10
    assert rows_of(f"{bucket}/p", max_shard_bytes=1000) == [{**row, "year": 2024} for row in ROWS]


def test_an_object_counts_by_its_tag(s3, corpus: str, tmp_path) -> None:
    before = {file.path: file.version for file in list_files(corpus)}
    s3.pipe(f"{corpus}/a.jsonl", lines())
    s3.pipe(f"{corpus}/deep/b.jsonl.gz", b"other")
    after = {file.path: file.version for file in list_files(corpus)}
    assert all(version.startswith("etag:") for version in after.values())
    assert [before[path] == after[path] for path in sorted(before)] == [True, False]


def test_objects_become_a_data_set(corpus: str, tmp_path) -> None:
    data = rdx.load_dataset(corpus, cache_dir=tmp_path / "cache", executor="inline")
    assert data[:] == {"n": [row["n"] for row in ROWS] * 2, "text": [row["text"] for row in ROWS] * 2}


def test_a_missing_object_or_bucket_names_what_was_looked_for(corpus: str) -> None:
    with pytest.raises(
        NoMatchError, match=rf"no file matches '{corpus}/nope/\*\.txt'; the nearest directory .*{corpus}'"
    ):
        list_files(f"{corpus}/nope/*.txt")
    with pytest.raises(NoMatchError, match="no file matches 's3://no-such-bucket/x'"):
        list_files("s3://no-such-bucket/x")
