"""Whole plans: parts that must run first, results that are kept, and messages along the way."""

from __future__ import annotations

import pytest

import raydata_ext as rdx
from raydata_ext.errors import StepError


def long_enough(row):
    return len(row["text"]) > 100


def test_row_numbers_after_a_filter_count_what_is_left(scan):
    numbered = scan.filter(long_enough).map(lambda row, index: {"index": index}, with_indices=True).collect()
    assert numbered["index"] == list(range(len(numbered)))
    assert 0 < len(numbered) < 40


def test_messages_number_the_steps_through_and_name_the_files_of_the_corpus(scan):
    def fail(row, index):
        if index == 5:
            raise ValueError("no")
        return row

    with pytest.raises(StepError, match=r"step 2 `fail`: .*/corpus/part\d/doc\d\d\.txt.*ValueError: no"):
        scan.filter(long_enough).map(fail, with_indices=True).collect()


def test_every_kept_result_is_used_again(scan, tmp_path):
    calls = tmp_path / "calls"

    def counted(row):
        with calls.open("a") as file:
            file.write("x")
        return {"length": len(row["text"])}

    kept = scan.map(counted, version="1").cache()
    first = kept.map(lambda row: {"double": row["length"] * 2}).collect()
    second = kept.map(lambda row: {"triple": row["length"] * 3}).collect()
    assert calls.read_text() == "x" * 40
    assert [row["length"] for row in first] == [row["length"] for row in second]
    assert kept.collect()[0].keys() == {"text", "path", "length"}


def test_shards_with_other_types_are_read_under_one_schema(tmp_path):
    for name, value in (("a", "1"), ("b", "2.5"), ("c", "null")):
        (tmp_path / f"{name}.jsonl").write_text(f'{{"n": {value}, "{name}": "only here"}}\n')
    dataset = rdx.load_dataset(str(tmp_path / "*.jsonl"), cache_dir=tmp_path / "cache", max_shard_bytes=100)
    assert [row["n"] for row in dataset] == [1.0, 2.5, None]
    assert dataset.column_names == ["n", "a", "b", "c"]
    assert dataset[0] == {"n": 1.0, "a": "only here", "b": None, "c": None}


def test_a_shard_without_rows_says_nothing_about_types(tmp_path):
    for name, text in (("a", "1\n"), ("b", "x\n")):
        (tmp_path / f"{name}.txt").write_text(text)
    scan = rdx.scan_dataset(str(tmp_path / "*.txt"), cache_dir=tmp_path / "cache", max_shard_bytes=100)
    dataset = scan.filter(lambda row: row["text"] == "1").map(lambda row: {"text": int(row["text"])}).collect()
    assert list(dataset) == [{"text": 1}]
    assert str(dataset.schema.field("text").type) == "int64"


def test_a_plan_over_no_rows_keeps_its_columns(tmp_path, corpus):
    scan = rdx.scan_dataset(str(corpus), format="text", cache_dir=tmp_path / "cache")
    dataset = scan.filter(lambda row: False).collect()
    assert len(dataset) == 0
    assert dataset.column_names == ["text"]
