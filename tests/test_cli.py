"""The commands that look at results: verify, gc, report, inspect."""

from __future__ import annotations

import os
import time

import pytest
from typer.testing import CliRunner

import raydata_ext as rdx
from raydata_ext.cli import app
from raydata_ext.engine import Engine, run_all
from raydata_ext.engine.report import Report


@pytest.fixture
def cache(corpus, tmp_path):
    """A cache of ten results and more, last used two days ago."""
    path = tmp_path / "cache"
    scan = rdx.scan_dataset(str(corpus / "**" / "*.txt"), format="text", max_shard_bytes="20KB", cache_dir=path)
    scan.collect(executor="inline").save_to_disk(tmp_path / "saved", executor="inline")
    for file in path.glob("??/*"):
        os.utime(file, (time.time() - 2 * 86400,) * 2)
    return path


def run(*arguments, expect=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == expect, result.output
    return result.output


def receipts(cache):
    return sorted(path.name for path in cache.glob("??/*.json"))


def test_a_sound_cache_directory_and_file_pass(cache, tmp_path):
    for path in (cache, tmp_path / "saved", next(cache.glob("??/*.arrow"))):
        assert "sound" in run("verify", path)


def test_one_changed_byte_is_found_in_each_of_them(cache, tmp_path):
    for directory in (cache, tmp_path / "saved"):
        file = next(directory.rglob("*.arrow"))
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
        assert file.stem.partition("-")[0] in run("verify", directory, expect=1)


def test_each_split_of_a_directory_of_splits_is_checked(tmp_path):
    rdx.DatasetDict(train=rdx.Dataset.from_dict({"a": [1]})).save_to_disk(tmp_path / "splits")
    assert "sound" in run("verify", tmp_path / "splits")
    (file,) = (tmp_path / "splits" / "train").glob("*.arrow")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert file.name in run("verify", tmp_path / "splits", expect=1)


def test_what_holds_nothing_of_ours_is_not_called_sound(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere"):
        result = CliRunner().invoke(app, ["verify", str(path)])
        assert "there is no dataset directory, cache directory or Arrow file" in str(result.exception)


def test_urls_are_inspected_verified_and_cleared_with_the_options_of_their_file_system(tmp_path, monkeypatch):
    monkeypatch.setenv("PLACE", str(tmp_path))
    options = {"dir": {"path": str(tmp_path), "target_protocol": "file"}}
    rows = rdx.Dataset.from_dict({"number": [1, 2]}, cache_dir=rdx.Workspace("dir://cache", options))
    rows.map(lambda row: {"more": row["number"] + 1}).save_to_disk("dir://saved")
    given = ("--storage-option", "dir.path=${PLACE}", "--storage-option", "dir.target_protocol=file")
    (file,) = (tmp_path / "saved").glob("*.arrow")
    for place in ("dir://saved", f"dir://saved/{file.name}"):
        assert "2 rows" in run("inspect", place, *given)
        assert "sound" in run("verify", place, *given)
    assert "sound" in run("verify", "dir://cache", *given)
    assert "1 entries" in run("gc", "dir://cache", *given)
    file.write_bytes(file.read_bytes()[:-20])
    assert "dir://saved/" in run("verify", f"dir://saved/{file.name}", *given, expect=1)


def test_an_option_that_is_none_is_refused_with_its_form():
    result = CliRunner().invoke(app, ["verify", "dir://saved", "--storage-option", "key"])
    assert "--storage-option 'key': expected is key.path=value" in str(result.exception)


def test_gc_only_says_what_it_would_do_until_it_is_told_to(cache):
    before = receipts(cache)
    assert "would be removed; add --delete" in run("gc", cache, "--older-than", "1d")
    assert receipts(cache) == before
    assert "0 entries, 0 bytes stay" in run("gc", cache, "--older-than", "1d", "--delete")
    assert receipts(cache) == []


def test_gc_shrinks_to_a_size_and_keeps_what_is_recent_or_of_a_kept_run(cache, tmp_path):
    assert f"{len(receipts(cache))} entries" in run("gc", cache, "--older-than", "3d", "--delete")
    kept = receipts(cache)[0].removesuffix(".json")
    kept_run = tmp_path / "kept.run"
    kept_run.mkdir()
    (kept_run / "report.json").write_text(f'{{"key": "{kept}"}}')
    run("gc", cache, "--max-size", "1", "--keep", kept_run, "--delete")
    assert receipts(cache) == [f"{kept}.json"]


def test_a_time_that_is_none_is_refused_with_an_example(cache):
    result = CliRunner().invoke(app, ["gc", str(cache), "--older-than", "soon"])
    assert "as in 30d" in str(result.exception)


def counted(row):
    return rdx.Counted({"words": row["text"].split()}, {"words": len(row["text"].split()), "documents [all]": 1})


def test_the_summary_of_a_run_shows_what_its_steps_counted(cache, corpus, tmp_path):
    lazy = rdx.scan_dataset(str(corpus / "**" / "*.txt"), unit="file", cache_dir=cache).map(counted)
    with Engine("inline") as engine:
        results = run_all(lazy.plan, lazy.workspace, engine)[-1]
    words = sum(len(path.read_text().split()) for path in corpus.rglob("*.txt"))
    Report("words", 0.0, status="complete", seconds={"total": 1.0}, results=results).write_json(tmp_path / "run")
    lines = [" ".join(line.strip("│").split()) for line in run("report", tmp_path / "run").splitlines()]
    first = lines.index("counted │ by step 1 `counted`")
    assert lines[first + 1 : first + 3] == [f"│ {words:,} words", "│ 40 documents [all]"]


def test_a_url_is_shown_without_its_password(tmp_path):
    result = CliRunner().invoke(app, ["inspect", "memory://user:hush@host/none"])
    assert "memory://user:***@host/none" in str(result.exception)


def test_a_directory_without_a_report_is_named(tmp_path):
    result = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert str(tmp_path / "report.json") in str(result.exception)
