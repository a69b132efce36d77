"""Corpora on a web server that fails every third request, or cuts what it sends."""

from __future__ import annotations

import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import raydata_ext as rdx
from raydata_ext.errors import ReadError
from raydata_ext.remote import Retries
from raydata_ext.sources import scan_files

ROWS = [{"n": number, "text": f"row {number}"} for number in range(5_000)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()


def parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), sink, row_group_size=1_000)
    return sink.getvalue()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Retries, "_pause", lambda self, attempt: 0.0)


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.jsonl", LINES), ("a.jsonl.gz", gzip.compress(LINES)), ("a.parquet", parquet())],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_rows_arrive_whole_however_often_the_line_breaks(server, name, content, tmp_path):
    server.contents[name] = content
    data = rdx.load_dataset(f"{server.url}/{name}", cache_dir=tmp_path, executor="inline", max_shard_bytes="20KB")
    assert data.to_list() == ROWS
    assert server.failed


def test_a_server_that_does_not_come_back_is_an_error_that_names_the_file(server, tmp_path):
    server.contents["a.jsonl"] = LINES
    source = scan_files(f"{server.url}/a.jsonl")
    server.is_down = True
    with pytest.raises(ReadError, match=rf"{server.url}/a.jsonl.* failed 6 times"):
        list(source.shards[0].read())


def test_a_data_set_that_is_served_as_files_is_opened_and_read(server, tmp_path):
    saved = rdx.Dataset.from_list(ROWS, cache_dir=tmp_path / "cache")
    saved.save_to_disk(tmp_path / "saved", max_shard_bytes="30KB")
    for path in (tmp_path / "saved").iterdir():
        server.contents[f"saved/{path.name}"] = path.read_bytes()
    loaded = rdx.load_from_disk(f"{server.url}/saved", cache_dir=tmp_path / "cache")
    before = server.sent
    assert (loaded.num_rows, loaded.schema, loaded.fingerprint) == (5_000, saved.schema, saved.fingerprint)
    assert server.sent == before
    assert loaded[::-1] == saved[::-1]
