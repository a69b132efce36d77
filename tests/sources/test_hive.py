"""Columns in the names of directories."""

from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.sources.hive import partition_columns, partition_types, partition_values


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("a.parquet", {}),
        ("x/a=b.parquet", {}),
        ("year=2024/lang=en/a.parquet", {"year": "2024", "lang": "en"}),
        ("x/year=2024/y/a.parquet", {"year": "2024"}),
        ("k=a%2Fb%20c/a.parquet", {"k": "a/b c"}),
        ("k=__HIVE_DEFAULT_PARTITION__/a.parquet", {"k": None}),
        ("k=/=v/a=b=c/a.parquet", {"k": "", "a": "b=c"}),
    ],
)
def test_directories_of_key_and_value_give_values(name: str, values: dict[str, str | None]) -> None:
    assert partition_values(name) == values


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "-20", "__HIVE_DEFAULT_PARTITION__"], "int64"),
        (["1", "a"], "string"),
        (["a", "1"], "string"),
        (["07"], "string"),
        (["9223372036854775808"], "string"),
        ([""], "string"),
    ],
)
def test_the_values_of_all_files_decide_on_the_type(values: list[str], kind: str) -> None:
    assert partition_types(f"k={value}/a" for value in values) == {"k": kind}


def test_a_column_has_the_value_in_every_row() -> None:
    found = partition_columns("year=2024/a", {"year": "int64", "lang": "string"}, 2)
    assert found == {"year": pa.array([2024, 2024]), "lang": pa.nulls(2, pa.string())}
