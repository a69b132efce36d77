"""Steps with workers of their own: what is computed when, what is kept, and that no result depends on it."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pyarrow as pa
import pytest

import raydata_ext as rdx
from raydata_ext.engine import Engine, ErrorPolicy, run_all
from raydata_ext.engine.quarantine import QuarantineFile, records_of
from raydata_ext.engine.report import Report
from raydata_ext.errors import QuarantineError, StepError
from raydata_ext.plan import quarantine_key, resolve

ONE, OTHER = rdx.Workers(num_gpus=1), rdx.Workers(max=3)


@pytest.fixture
def scan(corpus, tmp_path):
    def make(cache="cache"):
        return rdx.scan_dataset(
            str(corpus / "**" / "*.txt"), format="text", unit="file", path_column="path",
            max_shard_bytes="20KB", cache_dir=tmp_path / cache,
        )  # fmt: skip

    return make


@pytest.fixture
def calls(tmp_path):
    """Lets steps note their calls, and tells how often each was called since it was last asked."""
    directory = tmp_path / "calls"
    directory.mkdir()

    def counts():
        found = {file.name: len(file.read_text()) for file in directory.iterdir()}
        for file in directory.iterdir():
            file.unlink()
        return found

    counts.directory = str(directory)
    return counts


class Noted:
    """Adds a number to a column, and notes each call."""

    def __init__(self, directory, name, plus):
        self.file, self.name, self.plus = Path(directory) / name, name, plus

    def __call__(self, row):
        with self.file.open("a") as file:
            file.write("x")
        return {self.name: len(row["text"]) + self.plus}


def noted(calls, name, plus=1):
    kwargs = {"directory": calls.directory, "name": name, "plus": plus}
    return {"function": Noted, "constructor_kwargs": kwargs, "version": f"{name} {plus}"}


def collect(lazy):
    return lazy.collect(executor="inline")


def files(dataset):
    return {Path(file["filename"]).name: Path(file["filename"]).read_bytes() for file in dataset.cache_files}


def longer(row, limit):
    return len(row["text"]) > limit


def test_workers_change_neither_keys_nor_bytes(scan):
    def steps(lazy, first, second):
        lazy = lazy.filter(longer, fn_kwargs={"limit": 90}, workers=first)
        return lazy.map(lambda row: {"length": len(row["text"])}, workers=second).remove_columns("text")

    fused = collect(steps(scan("fused"), None, None))
    grouped = collect(steps(scan("grouped"), ONE, OTHER))
    assert files(grouped) == files(fused)
    assert grouped.fingerprint == fused.fingerprint
    assert 0 < len(grouped) < 40


def test_a_result_that_is_there_is_taken_whatever_the_workers(scan, calls):
    def steps(first, second):
        return scan().map(**noted(calls, "a"), workers=first).map(**noted(calls, "b"), workers=second)

    collect(steps(None, None))
    assert calls() == {"a": 40, "b": 40}
    for workers in ((ONE, None), (None, 2), (ONE, OTHER), (ONE, ONE)):
        assert steps(*workers).explain().hits == len(steps(*workers).explain().shards)
        assert len(collect(steps(*workers))) == 40
        assert calls() == {}


def test_each_group_goes_on_from_what_the_one_before_has_stored(scan, calls):
    def steps(plus):
        return (
            scan()
            .map(**noted(calls, "a"))
            .map(**noted(calls, "b"), workers=ONE)
            .map(**noted(calls, "c", plus), workers=OTHER)
        )

    assert set(collect(steps(1)).column_names) == {"text", "path", "a", "b", "c"}
    assert calls() == {"a": 40, "b": 40, "c": 40}
    missing = [shard.reason for shard in steps(2).explain().shards]
    assert all("goes on from the result after step 2" in reason for reason in missing)
    collect(steps(2))
    assert calls() == {"c": 40}


def test_only_shards_whose_last_result_is_missing_pass_the_groups_before(scan, calls):
    lazy = scan().map(**noted(calls, "a")).map(**noted(calls, "b"), workers=ONE)
    collect(lazy)
    calls()
    states = resolve(lazy.plan, lazy.workspace).states
    for state in states:
        lazy.workspace.store.discard(state.keys[0])  # the result of the first group
    lazy.workspace.store.discard(states[0].keys[1])
    assert len(collect(lazy)) == 40
    computed = calls()
    assert 0 < computed["a"] == computed["b"] < 40


def test_the_figures_of_a_shard_are_those_of_all_its_groups(scan):
    lazy = scan().filter(longer, fn_kwargs={"limit": 90}).map(lambda row: {"n": 1}, workers=ONE)
    with Engine("inline") as engine:
        [results] = run_all(lazy.plan, lazy.workspace, engine)
    assert all(len(result.work) == 2 and result.is_complete and not result.cached for result in results)
    report = Report("groups", 0.0, results=results)
    totals = report.totals()
    assert (totals["rows_in"], totals["rows_out"] + totals["filtered"]) == (40, 40)
    assert [step["step"] for step in report.steps()] == ["step 1 `longer`", "step 2 `<lambda>`"]
    shard = report.shards()[0]
    assert shard["seconds"] == round(sum(done.value.seconds for done in results[0].work), 4)


def test_row_numbers_are_right_where_workers_change_before_and_after_them(scan):
    lazy = scan().filter(longer, fn_kwargs={"limit": 90}).map(lambda row: {"m": 1}, workers=ONE)
    numbered = lazy.map(lambda row, index: {"index": index}, with_indices=True, workers=ONE)
    last = numbered.map(lambda row: {"after": row["index"] + 1}, workers=OTHER)
    assert collect(last)["after"] == list(range(1, len(collect(numbered)) + 1))


def fail_on(row, name, value):
    if row[name] == value:
        raise ValueError(f"no {value}")
    return row


def test_rows_are_set_aside_once_over_all_groups_and_counted_against_one_limit(tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(f'{{"n": {n}}}\n' for n in range(100)))
    scan = rdx.scan_dataset(str(tmp_path / "rows.jsonl"), cache_dir=tmp_path / "cache")
    lazy = scan.map(fail_on, fn_kwargs={"name": "n", "value": 3}).map(
        fail_on, fn_kwargs={"name": "n", "value": 5}, workers=ONE
    )
    with Engine("inline") as engine:
        [[result]] = run_all(lazy.plan, lazy.workspace, engine, errors=ErrorPolicy("quarantine", 2))
        assert (result.receipt.rows, result.receipt.quarantined) == (98, 2)
        [[again]] = run_all(lazy.plan, lazy.workspace, engine, errors=ErrorPolicy("quarantine", 2))
        assert again.cached
        with pytest.raises(QuarantineError):
            run_all(lazy.plan, lazy.workspace, engine, errors=ErrorPolicy("quarantine", 1))


def test_row_numbers_go_on_from_a_result_that_lacks_rows_and_nothing_is_done_again(tmp_path, calls):
    """Each group sets a row aside; the third one, which asks for numbers, is added later."""
    table = {"n": list(range(2500)), "text": [""] * 2500}
    lazy = rdx.Dataset.from_dict(table, cache_dir=tmp_path / "cache").lazy()
    lazy = lazy.map(**noted(calls, "a")).map(fail_on, fn_kwargs={"name": "n", "value": 3})
    lazy = lazy.map(fail_on, fn_kwargs={"name": "n", "value": 1500}, workers=ONE)
    with Engine("inline") as engine:
        run_all(lazy.plan, lazy.workspace, engine, errors=ErrorPolicy("quarantine"))
    lazy = lazy.map(lambda row, index: {"index": index}, with_indices=True, workers=OTHER)
    last = lazy.map(fail_on, fn_kwargs={"name": "index", "value": 2000}, workers=ONE)
    with Engine("inline") as engine:
        [[result]] = run_all(last.plan, last.workspace, engine, errors=ErrorPolicy("quarantine"))
    rows = last.workspace.store.table(result.receipt)
    assert rows.column("index").to_pylist() == rows.column("n").to_pylist()
    assert sorted(set(range(2500)) - set(rows.column("n").to_pylist())) == [3, 1500, 2000]
    assert (result.receipt.rows_in, result.receipt.quarantined) == (2500, 3)
    records = list(records_of(last.workspace.store, [result.receipt]))
    assert [record["row"] for record in records] == [3, 1500, 2000]
    assert {record["source"] for record in records} == {"table of 2500 rows in memory"}
    assert calls() == {"a": 2500}


def test_row_numbers_are_right_where_it_is_not_recorded_which_rows_a_result_lacks(tmp_path, calls):
    lazy = rdx.Dataset.from_dict({"n": list(range(10)), "text": [""] * 10}, cache_dir=tmp_path / "cache").lazy()
    lazy = lazy.map(**noted(calls, "a")).map(fail_on, fn_kwargs={"name": "n", "value": 3}).cache()
    last = lazy.map(lambda row, index: {"index": index}, with_indices=True)
    store = last.workspace.store
    with Engine("inline") as engine:
        [[kept]] = run_all(lazy.plan, lazy.workspace, engine, errors=ErrorPolicy("quarantine"))
        records = store.table(store.get(quarantine_key(kept.receipt.key))).table
        elsewhere = pa.array(["counted from somewhere else"])
        with QuarantineFile(store, kept.receipt.key, 1) as file:
            file.add(records.set_column(0, "source", elsewhere).to_pylist()[0])
            file.publish("host:1")
        [[result]] = run_all(last.plan, last.workspace, engine, errors=ErrorPolicy("quarantine"))
    assert store.table(result.receipt).column("index").to_pylist() == [0, 1, 2, *range(4, 10)]
    assert calls() == {"a": 20}


@pytest.fixture
def packed(tmp_path):
    """A compressed file of many parts, old enough for its time stamp to be trusted."""
    path = tmp_path / "big.txt.gz"
    path.write_bytes(gzip.compress("".join(f"line {number}\n" for number in range(3000)).encode()))
    os.utime(path, ns=(0, 1_700_000_000_123_456_789))
    return path


def of_parts(packed, cache, plus, workers):
    scan = rdx.scan_dataset(str(packed), cache_dir=packed.parent / cache, max_shard_bytes=4000)
    measured = scan.map(lambda row: {"length": len(row["text"])}, version="length")
    return measured.map(lambda row: {"sum": row["length"] + plus}, workers=workers, version=str(plus))


def test_the_parts_of_a_big_compressed_file_pass_all_groups(packed):
    grouped = collect(of_parts(packed, "grouped", 1, ONE))
    assert len(grouped) == 3000
    assert len(grouped.cache_files) > 1
    assert files(grouped) == files(collect(of_parts(packed, "fused", 1, None)))


def test_a_big_compressed_file_is_not_decompressed_again_where_a_group_has_stored_its_parts(packed):
    collect(of_parts(packed, "cache", 1, ONE))
    with packed.open("r+b") as file:  # what would be read now is damaged
        file.write(b"x" * packed.stat().st_size)
    os.utime(packed, ns=(0, 1_700_000_000_123_456_789))
    again = collect(of_parts(packed, "cache", 2, ONE))
    assert again["sum"][:2] == [8, 8]
    assert len(again) == 3000


def test_a_run_that_fails_leaves_what_was_finished_and_what_was_set_aside(tmp_path):
    for name in "abc":
        (tmp_path / f"{name}.jsonl").write_text('not json\n{"n": "' + name + '"}\n')
    scan = rdx.scan_dataset(str(tmp_path / "*.jsonl"), cache_dir=tmp_path / "cache", max_shard_bytes=20)
    lazy = scan.map(fail_on, fn_kwargs={"name": "n", "value": "-"}).map(
        lambda row: row, workers=ONE, version="the same"
    )
    parts = []
    with Engine("inline") as engine, pytest.raises(QuarantineError):
        run_all(lazy.plan, lazy.workspace, engine, errors=ErrorPolicy("quarantine", 1), parts=parts)
    [results] = parts
    assert [result.receipt.quarantined for result in results] == [1, 1]
    assert not any(result.is_complete for result in results)
    report = Report("failed", 0.0, results=results)
    assert (report.totals()["rows_in"], report.totals()["quarantined"]) == (4, 2)


def test_shards_that_were_complete_when_another_failed_are_told_from_those_that_were_not(tmp_path):
    for number, name in enumerate("abc"):
        (tmp_path / f"{name}.jsonl").write_text(f'{{"n": "{name}"}}\n' * (3 - number))
    scan = rdx.scan_dataset(str(tmp_path / "*.jsonl"), cache_dir=tmp_path / "cache", max_shard_bytes=40)
    lazy = scan.map(lambda row: row).map(fail_on, fn_kwargs={"name": "n", "value": "b"}, workers=ONE)
    parts = []
    with Engine("inline") as engine, pytest.raises(StepError, match="no b"):
        run_all(lazy.plan, lazy.workspace, engine, parts=parts)
    assert [(result.number, result.is_complete) for result in parts[0]] == [(0, True), (1, False), (2, False)]
