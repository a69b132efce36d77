"""Reports whose figures add up."""

from __future__ import annotations

import contextlib
import gzip
import socket

import orjson
import pytest

import raydata_ext as rdx
from raydata_ext.engine import Engine, ErrorPolicy, run_all
from raydata_ext.engine.report import Report, read_report
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


def report_of(lazy, executor="inline", raises=None, errors=None, **options):
    """The report of a run, whose figures add up."""
    parts = []
    with Engine(executor, **options) as engine, pytest.raises(raises) if raises else contextlib.nullcontext():
        run_all(lazy.plan, lazy.workspace, engine, errors=errors, parts=parts)
    report = Report("test", 1_700_000_000.0, results=parts[-1], earlier=parts[:-1]).as_dict()
    for figures in [report["totals"], *report["shards"], *report["steps"]]:
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
    nodes = [[done["node"] for done in shard["passes"]] for shard in report["shards"]]
    assert nodes == [[expected]] * report["totals"]["shards"]
    again = report_of(lazy.map(lambda row: {"n": len(row["text"])}, version="1"))
    assert [shard["passes"] for shard in again["shards"]] == [[]] * report["totals"]["shards"]


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


def test_rows_set_aside_in_reading_and_in_steps_add_up_from_step_to_step(tmp_path):
    (tmp_path / "a.jsonl").write_text("".join(f'{{"n": {n}}}\n' + "no JSON\n" * (n % 7 == 0) for n in range(100)))
    lazy = rdx.scan_dataset(str(tmp_path / "a.jsonl"), cache_dir=tmp_path / "cache", max_shard_bytes="200B")
    lazy = lazy.map(twice, batched=True).filter(even).map(fail_at_40)
    errors = ErrorPolicy("quarantine")
    report = report_of(lazy, errors=errors)
    assert report["totals"]["shards"] > 3
    steps = report["steps"]
    assert [step["step"] for step in steps] == ["reading", "step 1 `twice`", "step 2 `even`", "step 3 `fail_at_40`"]
    assert [step["quarantined"] for step in steps] == [15, 0, 0, 2]
    assert [step["rows_added"] for step in steps] == [0, 100, 0, 0]
    assert [step["rows_in"] for step in steps] == [115, 100, 200, 100]
    assert [step["rows_out"] for step in steps] == [100, 200, 100, report["totals"]["rows_out"]]
    assert report["totals"]["rows_in"] == 115
    assert report_of(lazy, errors=errors)["steps"] == steps


def test_each_pass_of_a_shard_has_its_own_time_and_worker(tmp_path, corpus, ray_session):
    lazy = rdx.scan_dataset(str(corpus), format="text", cache_dir=tmp_path / "cache", max_shard_bytes="2KB")
    lazy = lazy.map(length, workers=1).filter(even, workers=rdx.Workers(max=1, max_in_flight=1))
    report = report_of(lazy, "ray", workers=1)
    shards = report["shards"]
    assert {len(shard["passes"]) for shard in shards} == {2}
    firsts, seconds = zip(*(shard["passes"] for shard in shards), strict=True)
    assert len({done["worker"] for done in firsts}) == len({done["worker"] for done in seconds}) == 1
    assert firsts[0]["worker"] != seconds[0]["worker"]
    assert max(done["begin"] for done in firsts) < min(done["begin"] for done in seconds)
    assert all(sum(done["seconds"] for done in shard["passes"]) > 0 for shard in shards)
    assert [shard["cached"] for shard in shards] == [False] * len(shards)


def test_what_is_written_is_what_is_returned(tmp_path):
    report = Report("test", 1_700_000_000.0)
    assert report.write_json(tmp_path / "run") == report.as_dict() == read_report(tmp_path / "run")


def twice(batch):
    return {"n": [n for n in batch["n"] for _ in range(2)]}


def length(row):
    return {"n": len(row["text"])}


def fail_at_40(row):
    return {"n": 1 / (40 - row["n"])}
