"""What is in the files of an export."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import math
import re
from pathlib import Path

import datasets
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from raydata_ext import load_dataset
from raydata_ext.dataset import Dataset
from raydata_ext.errors import SchemaError


def test_parquet_has_row_groups_of_the_asked_size_with_statistics(large, tmp_path):
    (path,) = large.to_parquet(tmp_path / "x.parquet", row_group_bytes="2MB", compression="snappy")
    metadata = pq.ParquetFile(path).metadata
    rows = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    assert rows == [1976, 1976, 1976, 1976, 96], "each of 2 MB, at 1,012 bytes a row"
    column = metadata.row_group(1).column(0)
    assert (column.statistics.min, column.statistics.max, column.compression) == (1976, 3951, "SNAPPY")


def test_parquet_tells_hugging_face_the_features(tmp_path):
    label = datasets.ClassLabel(names=["no", "yes"])
    ours = Dataset.from_dict(
        {"label": [0, 1]}, schema=datasets.Features({"label": label}), cache_dir=tmp_path / "cache"
    )
    ours.to_parquet(tmp_path / "x.parquet")
    theirs = datasets.Dataset.from_parquet(str(tmp_path / "x.parquet"), cache_dir=str(tmp_path / "hf"))
    assert theirs.features["label"] == label


@pytest.mark.parametrize("name", ["x.jsonl", "x.json", "x.jsonl.gz", "x.jsonl.zst", "x.jsonl.bz2", "x.json.lz4"])
def test_json_lines_are_read_back_as_they_were(any_dataset, rows, tmp_path, name):
    (path,) = any_dataset.to_json(tmp_path / name)
    loaded = load_dataset(path, format="jsonl", cache_dir=tmp_path / "read")
    assert loaded.to_list() == rows


def test_values_that_json_lacks_take_the_form_that_is_told(tmp_path):
    table = pa.table(
        {
            "time": [dt.datetime(2024, 1, 2, 3, 4, 5, 6)],  # noqa: DTZ001
            "nanoseconds": pa.array([1_704_164_645_000_000_006], pa.timestamp("ns", "UTC")),
            "day": [dt.date(2024, 1, 2)],
            "price": [decimal.Decimal("1.50")],
            "duration": [dt.timedelta(seconds=90)],
            "nan": [math.nan],
            "none": pa.array([None], pa.int64()),
            "text": ['ä "\n'],
        }
    )
    (path,) = Dataset.from_arrow(table, cache_dir=tmp_path / "cache").to_json(tmp_path / "x.jsonl")
    assert [json.loads(line) for line in Path(path).read_text().splitlines()] == [
        {
            "time": "2024-01-02T03:04:05.000006",
            "nanoseconds": "2024-01-02T03:04:05.000000006+00:00",
            "day": "2024-01-02",
            "price": "1.50",
            "duration": 90.0,
            "nan": None,
            "none": None,
            "text": 'ä "\n',
        }
    ]


def test_csv_is_read_back_by_others(any_dataset, tmp_path):
    plain = any_dataset.remove_columns("tokens")
    (path,) = plain.to_csv(tmp_path / "x.csv.gz", delimiter="\t")
    read = pd.read_csv(path, sep="\t")
    assert read.to_dict("list") == plain.to_dict()


@pytest.mark.parametrize(
    ("method", "column", "message"),
    [("to_json", pa.array([b"x"]), "not JSON serializable: bytes"), ("to_csv", pa.array([[1]]), "list<item: int64>")],
)
def test_columns_that_a_format_has_no_form_for_are_errors_and_leave_no_file(tmp_path, method, column, message):
    dataset = Dataset.from_arrow(pa.table({"a": column}), cache_dir=tmp_path / "cache")
    suffix = {"to_json": "jsonl", "to_csv": "csv"}[method]
    with pytest.raises(SchemaError, match=f"cannot be written in this format .*{re.escape(message)}"):
        getattr(dataset, method)(tmp_path / "out" / f"x.{suffix}")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(("method", "suffix"), [("to_parquet", "parquet"), ("to_csv", "csv")])
def test_rows_without_columns_are_refused_where_the_file_would_not_count_them(tmp_path, method, suffix):
    dataset = Dataset.from_dict({"a": [1, 2]}, cache_dir=tmp_path / "cache").remove_columns("a")
    with pytest.raises(SchemaError, match="rows without columns have no form in this format"):
        getattr(dataset, method)(tmp_path / "out" / f"x.{suffix}")
    assert list((tmp_path / "out").iterdir()) == []
    assert Path(dataset.to_json(tmp_path / "x.jsonl")[0]).read_text() == "{}\n{}\n"
