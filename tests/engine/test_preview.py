"""The first rows of a plan."""

from __future__ import annotations

import json

import pytest

from raydata_ext.dataset import Dataset, scan_dataset


@pytest.fixture
def lazy(tmp_path):
    """Three shards of ten rows."""
    for number in range(3):
        rows = [json.dumps({"n": number * 10 + row}) for row in range(10)]
        (tmp_path / f"{number}.jsonl").write_text("\n".join(rows) + "\n")
    return scan_dataset(str(tmp_path / "*.jsonl"), cache_dir=tmp_path / "cache", max_shard_bytes=100)


def test_the_first_rows_are_those_of_the_result(lazy):
    chain = lazy.filter(lambda row: row["n"] % 3 == 0).map(lambda row, i: {"i": i}, with_indices=True)
    assert chain.head(5) == [{"n": n, "i": n // 3} for n in (0, 3, 6, 9, 12)]
    assert chain.head(1000) == [chain.collect(executor="inline")[i] for i in range(10)]


def test_a_row_function_is_called_for_no_more_rows_than_are_wanted(lazy):
    calls = []
    lazy.map(lambda row: calls.append(row["n"]), version="1").head(2)
    assert calls == [0, 1]


def test_nothing_is_stored(lazy, tmp_path):
    lazy.map(lambda row: {"m": 1}).head(3)
    assert not list((tmp_path / "cache").rglob("*.arrow"))


def test_rows_with_different_columns_have_all_of_them(lazy):
    assert lazy.map(lambda row: {"late": "x"} if row["n"] == 1 else {"half": 0.5} if row["n"] else {"half": 1}).head(
        3
    ) == [
        {"n": 0, "half": 1.0, "late": None},
        {"n": 1, "half": None, "late": "x"},
        {"n": 2, "half": 0.5, "late": None},
    ]


def test_no_rows_are_no_rows(lazy, tmp_path):
    assert lazy.filter(lambda row: False).head(3) == []
    assert lazy.head(0) == []
    assert Dataset.from_dict({}, cache_dir=tmp_path / "cache").lazy().head(3) == []
