"""Results of plans in the formats of others."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from raydata_ext import load_from_disk, scan_dataset
from raydata_ext.dataset import require_options
from raydata_ext.text import MMapIndexedDataset


@pytest.fixture
def plan(tmp_path):
    """Lines as tokens."""
    (tmp_path / "in.txt").write_text("abc\nde\n")
    lazy = scan_dataset(tmp_path / "in.txt", format="text", cache_dir=tmp_path / "cache")
    return lazy.map(lambda row: {"input_ids": list(row["text"].encode())})


TOKENS = [[97, 98, 99], [100, 101]]


def test_a_plan_is_written_in_any_format(plan, tmp_path):
    (path,) = plan.write(tmp_path / "a")
    assert path == str(tmp_path / "a" / "data-00000-of-00001.arrow")
    assert load_from_disk(tmp_path / "a")["input_ids"] == TOKENS
    (path,) = plan.write(tmp_path / "p", format="parquet", compression="snappy")
    assert pq.read_table(path)["input_ids"].to_pylist() == TOKENS
    (path,) = plan.write(tmp_path / "x.jsonl", format="json")
    assert [json.loads(line)["text"] for line in (tmp_path / "x.jsonl").read_text().splitlines()] == ["abc", "de"]
    (path,) = plan.remove_columns("input_ids").write(tmp_path / "x.csv", format="csv")
    assert (tmp_path / "x.csv").read_text() == '"text"\n"abc"\n"de"\n'
    for format_ in ("megatron", "fairseq"):
        paths = plan.write(tmp_path / format_ / "x", format=format_, dtype="int32")
        assert paths == [str(tmp_path / format_ / f"x.{suffix}") for suffix in ("bin", "idx")]
        assert [item.tolist() for item in MMapIndexedDataset(tmp_path / format_ / "x")] == TOKENS
    paths = plan.write(tmp_path / "m", format="mds", columns=["text"])
    assert paths == [str(tmp_path / "m" / name) for name in ("shard.00000.mds", "index.json")]


def test_computing_and_writing_share_the_workers(ray_session, plan, tmp_path):
    plan.write(tmp_path / "ray" / "x", format="megatron", executor="ray", workers=1)
    plan.write(tmp_path / "inline" / "x", format="megatron", executor="inline")
    for name in ("x.bin", "x.idx"):
        assert (tmp_path / "ray" / name).read_bytes() == (tmp_path / "inline" / name).read_bytes()


@pytest.mark.parametrize(
    ("format_", "options", "message"),
    [
        ("orc", {}, "format is 'orc'; it must be one of"),
        ("megatron", {"colum": "x"}, "format 'megatron' has no option 'colum'; its options are .*'column'"),
        ("mds", {"workers": 2}, "format 'mds' has no option 'workers'"),
        ("parquet", {"executor": "ray"}, "format 'parquet' has no option 'executor'"),
    ],
)
def test_what_a_format_does_not_have_is_refused_before_anything_runs(plan, tmp_path, format_, options, message):
    with pytest.raises(ValueError, match=message):
        require_options(format_, options)
    if "colum" in options:
        with pytest.raises(ValueError, match=message):
            plan.write(tmp_path / "out" / "x", format=format_, **options)
        assert not (tmp_path / "cache").exists()
