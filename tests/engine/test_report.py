"""Reports whose figures add up."""

from __future__ import annotations

import contextlib
import gzip
import socket

import orjson
import pytest

import raydata_ext as rdx
from raydata_ext.engine import Engine, run_all
from raydata_ext.engine.report import Report
from raydata_ext.errors import StepError


def even(row):
    return row["n"] % 2 == 0, "odd"


def test_rows_in_are_rows_out_and_filtered_and_quarantined_for_every_shard(tmp_path, corpus):
    lazy = rdx.scan_dataset(str(corpus), format="text", cache_dir=tmp_path, max_shard_bytes="20KB")
    lazy = lazy.map(lambda row: {"n": len(row["text"])}, version="1").filter(even)
    with Engine("inline") as engine:
        report = Report("test", 1_700_000_000.0, results=run_all(lazy.plan, lazy.workspace, engine)[-1])
    report.write_json(tmp_path / "run")
    loaded = orjson.loads((tmp_path / "run" / "report.json").read_bytes())
    totals = loaded["totals"]
    assert totals["rows_in"] == 120
    assert totals["filtered_by"] == {"odd": totals["filtered"]}
    for figures in [totals, *loaded["shards"]]:
        filtered = figures["filtered"] if isinstance(figures["filtered"], int) else sum(figures["filtered"].values())
        assert figures["rows_in"] == figures["rows_out"] + filtered + figures["quarantined"]
    assert [step["step"] for step in loaded["steps"]] == ["step 1 `<lambda>`", "step 2 `even`"]
    assert loaded["steps"][1]["rows_out"] == totals["rows_out"]
    assert loaded["started"] == "2023-11-14T22:13:20+00:00"


def report_of(lazy, executor="inline", raises=None, **options):
    """The report of a run, whose figures add up."""
    parts = []
    with Engine(executor, **options) as engine, pytest.raises(raises) if raises else contextlib.nullcontext():
        run_all(lazy.plan, lazy.workspace, engine, parts=parts)
    report = Report("test", 1_700_000_000.0, results=parts[-1], earlier=parts[:-1]).as_dict()
    for figures in [report["totals"], *report["shards"]]:
        filtered = figures["filtered"] if isinstance(figures["filtered"], int) else sum(figures["filtered"].values())
        assert figures["rows_in"] + figures["rows_added"] == figures["rows_out"] + filtered + figures["quarantined"]
    return report


def test_parts_of_a_compressed_file_tell_who_decompressed_them_and_how_much(tmp_path):
    lines = "".join(f'{{"n": {n}, "text": "{n * 7919 % 10_007:x}"}}\n' for n in range(20_000)).encode()
    path = tmp_path / "big.jsonl.gz"
    path.write_bytes(gzip.compress(lines))
    lazy = rdx.scan_dataset(str(path), cache_dir=tmp_path / "cache", max_shard_bytes="100KB")
    report = report_of(lazy.filter(even))
    decoded = [shard["decoding"] for shard in report["shards"]]
    assert len(decoded) > 3
    assert sum(one["bytes_in"] for one in decoded) == path.stat().st_size
    assert sum(one["bytes_out"] for one in decoded) == len(lines)
    assert all(one["seconds"] > 0 and one["begin"] > 0 for one in decoded)
    assert {one["node"]["host"] for one in decoded} == {socket.gethostname()}
    again = report_of(lazy.filter(even))
    assert [shard["decoding"] for shard in again["shards"]] == [None] * len(decoded)
    assert again["totals"]["cached"] == len(decoded)


def test_each_computed_shard_names_its_node(tmp_path, corpus, ray_session):
    lazy = rdx.scan_dataset(str(corpus), format="text", cache_dir=tmp_path / "cache", max_shard_bytes="2KB")
    report = report_of(lazy.map(lambda row: {"n": len(row["text"])}, version="1"), "ray", workers=1)
    (node,) = ray_session.nodes()
    expected = {"host": socket.gethostname(), "ip": node["NodeManagerAddress"], "id": node["NodeID"]}
    assert [shard["node"] for shard in report["shards"]] == [expected] * report["totals"]["shards"]
    again = report_of(lazy.map(lambda row: {"n": len(row["text"])}, version="1"))
    assert {shard["node"] for shard in again["shards"]} == {None}


def test_a_run_that_fails_reports_the_shards_that_it_finished(tmp_path):
    for number in range(10, 30):
        (tmp_path / f"{number}.txt").write_text(f"{number}\n")
    lazy = rdx.scan_dataset(str(tmp_path / "*.txt"), cache_dir=tmp_path / "cache", max_shard_bytes=3)
    report = report_of(lazy.map(fail_at_24), raises=StepError)
    totals = report["totals"]
    assert 0 < totals["complete"] == totals["computed"] == totals["shards"] < 20
    assert [shard["complete"] for shard in report["shards"]] == [True] * totals["shards"]
    assert totals["rows_out"] == totals["shards"]


def fail_at_24(row):
    return {"n": 1 / (24 - int(row["text"]))}
