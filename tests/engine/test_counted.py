"""Counts that steps add to the report."""

from __future__ import annotations

import contextlib
import json
import re

import numpy as np
import pytest

import raydata_ext as rdx
from raydata_ext.engine import Engine, run_all
from raydata_ext.engine.report import Report
from raydata_ext.errors import StepError


def words(row):
    found = row["text"].split()
    return rdx.Counted({"words": found}, {"words": len(found), "empty rows": int(not found)})


def words_of_batch(batch):
    found = [text.split() for text in batch["text"]]
    return rdx.Counted({"words": found}, {"words": sum(map(len, found)), "batches": 1})


async def words_awaited(row):
    return words(row)


def words_in_place(row):
    row["words"] = row["text"].split()
    return rdx.Counted(row, {"words": len(row["words"])})


def first_words(texts):
    return rdx.Counted({"first": texts[:1]}, {"first words": np.int64(1)})


@pytest.fixture
def plan(tmp_path):
    """Lines in shards of about two, without steps."""
    (tmp_path / "a.txt").write_text("one two\n\nthree\nfour five six\nbad\nseven\n")
    return rdx.scan_dataset(tmp_path / "a.txt", cache_dir=tmp_path / "cache", max_shard_bytes=12)


def steps_of(lazy, executor="inline", on_error="raise", raises=None):
    """The steps in the report of a run."""
    parts = []
    with (
        Engine(executor, 1) as engine,
        pytest.raises(raises) if raises else contextlib.nullcontext(),
    ):
        run_all(lazy.plan, lazy.workspace, engine, errors=rdx.engine.ErrorPolicy(on_error), parts=parts)
    return Report("test", 0.0, results=parts[-1], earlier=parts[:-1]).as_dict()["steps"]


@pytest.mark.parametrize("function", [words, words_awaited])
def test_counts_of_a_step_are_summed_over_all_rows_and_shards(plan, function):
    lazy = plan.map(function).filter(lambda row: len(row["words"]) > 1, version="1")
    first, second = steps_of(lazy)
    assert first["counts"] == {"words": 8, "empty rows": 1}
    assert second["counts"] == {}


def test_the_rows_are_those_of_the_result_without_counts(plan):
    expected = [{"text": text, "words": text.split()} for text in plan.collect(executor="inline")["text"]]
    for function in (words, words_awaited, words_in_place):
        assert plan.map(function).collect(executor="inline").to_list() == expected
        assert list(plan.map(function).stream()) == expected
        assert plan.map(function).head(2) == expected[:2]
    by_batches = plan.map(words_of_batch, batched=True, batch_size=2)
    assert by_batches.collect(executor="inline").to_list() == expected
    columns = plan.map(first_words, input_columns="text")
    assert columns.collect(executor="inline")["first"] == [row["text"][:1] for row in expected]
    assert steps_of(columns)[0]["counts"] == {"first words": 6}


def test_counts_of_cached_results_count_as_well(plan):
    lazy = plan.map(words)
    first, again = steps_of(lazy), steps_of(lazy)
    assert again == first
    longer = steps_of(lazy.cache().map(lambda row: {"n": len(row["words"])}, version="1"))
    assert longer[0]["counts"] == first[0]["counts"]


def test_receipts_that_came_before_there_were_counts_can_still_be_read(plan, tmp_path):
    lazy = plan.map(words)
    before = steps_of(lazy)
    for path in (tmp_path / "cache").glob("??/*.json"):
        receipt = json.loads(path.read_bytes())
        for step in receipt["steps"]:
            del step["counts"]
        path.write_text(json.dumps(receipt))
    assert steps_of(lazy) == [{**before[0], "counts": {}}]


def fail_at_bad(batch):
    counted = words_of_batch(batch)
    if "bad" in batch["text"]:
        raise ValueError("bad")
    return counted


def odd_result_at_bad(row):
    return rdx.Counted(3, {"words": 100}) if row["text"] == "bad" else words(row)


def test_rows_that_are_set_aside_count_nothing_and_others_once(plan):
    (step,) = steps_of(plan.map(fail_at_bad, batched=True, batch_size=10), on_error="quarantine")
    assert (step["quarantined"], step["counts"]["words"]) == (1, 7)
    (step,) = steps_of(plan.map(odd_result_at_bad), on_error="quarantine")
    assert (step["quarantined"], step["counts"]) == (1, {"words": 7, "empty rows": 1})


def test_counts_are_the_same_on_ray(plan, tmp_path, ray_session):
    inline = [step["counts"] for step in steps_of(plan.map(words))]
    other = rdx.scan_dataset(tmp_path / "a.txt", cache_dir=tmp_path / "other", max_shard_bytes=12)
    assert [step["counts"] for step in steps_of(other.map(words), "ray")] == inline


def no_number(row):
    return rdx.Counted(row, {"share": 0.5})


def test_a_count_that_is_no_whole_number_is_an_error_of_the_step(plan):
    with pytest.raises(StepError, match=re.escape("row 0: TypeError: 'float' object cannot be interpreted as an int")):
        plan.map(no_number).collect(executor="inline")


def test_a_filter_has_reasons_and_no_counts(plan):
    with pytest.raises(StepError, match="returned Counted; a filter answers with a bool"):
        plan.filter(words).collect(executor="inline")
