"""Exports that end before they are complete, and those that come after them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from raydata_ext.dataset import Dataset
from raydata_ext.errors import SchemaError

EXPORT = """
import json, os, signal, sys
from raydata_ext.dataset import Dataset
from raydata_ext.engine import Silent

class Kills(Silent):
    def begin(self, what, tasks, done, num_bytes):
        self.what = what
    def advance(self, num_bytes, rows):
        if self.what == "writing":
            os.kill(os.getpid(), signal.SIGKILL)

files, method, path, options = map(json.loads, sys.argv[1:])
dataset = Dataset.from_files(files)
getattr(dataset, method)(path, executor="inline", progress=Kills(), **options)
"""


@pytest.fixture
def mapped(large, tmp_path):
    """The rows of `large` in four mapped files."""
    rows = large.map(lambda row: {"tokens": [row["n"], 1]})
    parts = [rows.shard(4, number).save_to_disk(tmp_path / f"part{number}") for number in range(4)]
    return Dataset.from_files([part.file_path(part.files[0]) for part in parts], cache_dir=tmp_path / "cache")


@pytest.mark.parametrize(
    ("method", "path", "options", "names"),
    [
        ("to_json", "out", {"max_file_bytes": "3MB", "compression": "zstd"}, r"data-0000\d-of-00004\.jsonl\.zst"),
        ("to_megatron", "out/x", {"column": "tokens"}, r"x\.(bin|idx)"),
        ("to_mds", "out", {"size_limit": "2MB"}, r"index\.json|shard\.0000\d\.mds"),
        ("save_to_disk", "out", {"max_shard_bytes": "3MB"}, r"data-0000\d-of-00004\.arrow|\w+\.json"),
    ],
)
def test_a_killed_export_leaves_nothing_that_looks_whole_and_the_next_one_is(
    mapped, tmp_path, method, path, options, names
):
    files = [file["filename"] for file in mapped.cache_files]
    arguments = [json.dumps(one) for one in (files, method, str(tmp_path / path), options)]
    killed = subprocess.run([sys.executable, "-c", EXPORT, *arguments], check=False)
    assert killed.returncode == -signal.SIGKILL
    left = [one.name for one in (tmp_path / "out").iterdir()]
    assert left, "the first file was complete"
    looks_whole = [name for name in left if not name.endswith(".tmp")]
    if method in {"to_mds", "save_to_disk"}:  # which are nothing without index or manifest
        looks_whole = [name for name in looks_whole if name.endswith(".json")]
    assert looks_whole == []
    getattr(mapped, method)(tmp_path / path, **options)
    assert [one.name for one in (tmp_path / "out").iterdir() if not re.fullmatch(names, one.name)] == []


def test_files_of_a_directory_appear_together_and_replace_older_ones_together(mapped, tmp_path):
    out = tmp_path / "out"
    mapped.remove_columns("tokens").to_csv(out, max_file_bytes="3MB")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(SchemaError, match="cannot be written in this format"):
        mapped.to_csv(out, max_file_bytes="3MB")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_sharded_parquet_has_row_groups_and_statistics_in_each_file(mapped, tmp_path):
    paths = mapped.to_parquet(tmp_path / "out", max_file_bytes="5MB", row_group_bytes="1MB")
    firsts = []
    for path in paths:
        metadata = pq.ParquetFile(path).metadata
        assert metadata.num_row_groups > 1
        firsts += [metadata.row_group(number).column(0).statistics.min for number in range(metadata.num_row_groups)]
    assert firsts == sorted(firsts)
    assert (len(paths), firsts[0]) == (2, 0)
