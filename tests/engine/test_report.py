"""Reports whose figures add up."""

from __future__ import annotations

import orjson

import raydata_ext as rdx
from raydata_ext.engine import Engine, run_all
from raydata_ext.engine.report import Report


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
