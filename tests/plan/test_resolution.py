"""Plans held against a workspace, and the words for what is missing."""

from __future__ import annotations

import os

import pytest

import raydata_ext as rdx


def count(row, step=1):
    return {"n": len(row["text"]) + step}


def double(row):
    return {"n": row["n"] * 2}


@pytest.fixture
def scan(corpus, tmp_path):
    def make(**options):
        return rdx.scan_dataset(
            str(corpus / "**" / "*.txt"), format="text", unit="file", cache_dir=tmp_path / "cache",
            max_shard_bytes="20KB", **options,
        )  # fmt: skip

    return make


def reasons(lazy):
    return {shard.reason for shard in lazy.explain().shards if not shard.hit}


def test_everything_is_new_before_the_first_run_and_a_hit_after_it(scan):
    lazy = scan().map(count)
    assert reasons(lazy) == {"new input"}
    lazy.collect()
    explanation = lazy.explain()
    assert explanation.hits == len(explanation.shards) > 1
    assert f"{explanation.hits} hits, 0 to compute" in str(explanation)


def test_a_changed_argument_is_named_with_both_values(scan):
    scan().map(count, fn_kwargs={"step": 200}).collect()
    [reason] = reasons(scan().map(count, fn_kwargs={"step": 300}))
    assert reason == "step 1 `count`: argument `step`: 200 became 300"


def test_an_edited_input_is_told_from_a_touched_one(scan, corpus):
    lazy = scan().map(count)
    lazy.collect()
    edited, touched = corpus / "part0" / "doc00.txt", corpus / "part3" / "doc39.txt"
    edited.write_text("something else")
    os.utime(touched, (1, 1))
    missing = [shard for shard in scan().map(count).explain().shards if not shard.hit]
    assert len(missing) == 2
    assert all("touched" in shard.reason for shard in missing)
    assert len(scan().map(count).collect()) == 40
    missing = [shard for shard in scan().map(double).explain().shards if not shard.hit]
    assert all("which was `count`" in shard.reason for shard in missing)


def test_a_later_step_goes_on_from_the_kept_result(scan):
    kept = scan().map(count).cache()
    kept.map(double).collect()
    changed = kept.map(lambda row: {"n": row["n"] * 3})
    [reason] = reasons(changed)
    assert "step 2" in reason
    assert "goes on from the result after step 1" in reason


def test_steps_that_come_and_go_are_named(scan):
    scan().map(count).map(double).collect()
    [shorter] = reasons(scan().map(count))
    assert "step `double` is no longer there" in shorter
    [longer] = reasons(scan().map(count).map(double).select_columns("n"))
    assert "step 3 `select_columns(n)` is new" in longer


def test_options_of_the_source_are_named(scan):
    scan().map(count).collect()
    [reason] = reasons(scan(path_column="path").map(count))
    assert "format or options of the source changed" in reason


def test_a_result_that_was_deleted_is_said_to_be_gone(scan, tmp_path):
    lazy = scan().map(count)
    lazy.collect()
    for receipt in (tmp_path / "cache").glob("??/*.json"):
        receipt.unlink()
    [*missing] = reasons(lazy)
    assert all("is gone from the cache" in reason for reason in missing)


def test_known_contents_are_explained_without_reading_an_input(scan, monkeypatch):
    lazy = scan().map(count)
    lazy.collect()
    monkeypatch.setattr("raydata_ext.sources.InputFile.open", lambda file: pytest.fail(f"read {file.path}"))
    assert lazy.explain().hits == len(lazy.explain().shards)


def test_an_explanation_shows_what_runs_on_which_workers_and_where_results_are_kept(scan):
    lazy = scan().map(count).cache().map(double).map(double, workers=rdx.Workers(num_gpus=1)).rename_columns({"n": "m"})
    lazy = lazy.filter(bool).map(double, with_indices=True)
    assert lazy.explain().steps == [
        "on the workers of the run:",
        "1. count",
        "(result kept)",
        "2. double",
        "(result kept)",
        "on Workers(num_gpus=1):",
        "3. double",
        "4. rename_columns(n=m)",
        "(result kept)",
        "on the workers of the run:",
        "5. bool",
        "(all above is run first: the next step needs the number of rows of each shard)",
        "6. double",
    ]
    assert scan().map(count).explain().steps == ["1. count"]
