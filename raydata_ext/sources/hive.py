"""Columns that stand in the names of directories, as in `year=2024/language=en/part-0.parquet`.

Source: Apache Hive; the same in Spark, Arrow, DuckDB and Polars.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NULL = "__HIVE_DEFAULT_PARTITION__"
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_INT64 = range(-(2**63), 2**63)


def partition_values(name: str) -> dict[str, str | None]:
    """Values by key of the directories on the way to a file, outermost first.

    Args:
        name: path of the file relative to the source.
    """
    pairs = (part.partition("=") for part in name.split("/")[:-1])
    values = {unquote(key): unquote(value) for key, equals, value in pairs if key and equals}
    return {key: None if value == _NULL else value for key, value in values.items()}


def partition_types(names: Iterable[str]) -> dict[str, str]:
    """Types by key, as the values of all files allow: int64 where each is an integer as one writes it, else string.

    Args:
        names: paths of the files relative to the source.
    """
    types: dict[str, str] = {}
    for values in map(partition_values, names):
        for key, value in values.items():
            is_integer = value is None or (_INTEGER.fullmatch(value) is not None and int(value) in _INT64)
            types[key] = "int64" if is_integer and types.get(key) != "string" else "string"
    return types


def partition_columns(name: str, types: Mapping[str, str], num_rows: int) -> dict[str, pa.Array]:
    """The columns that a file has by its directories.

    Args:
        name: path of the file relative to the source.
        types: Arrow type of each of the columns; null where the file is in no such directory.
        num_rows: rows of the columns.

    Raises:
        pa.ArrowInvalid: a value is not of its type.
    """
    values = partition_values(name)
    return {
        key: pa.repeat(pa.scalar(values.get(key), pa.string()).cast(pa.type_for_alias(kind)), num_rows)
        for key, kind in types.items()
    }
