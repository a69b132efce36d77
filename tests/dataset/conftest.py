"""Data sets that the tests of this directory start from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from raydata_ext.dataset import Dataset
from raydata_ext.table import ShardWriter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = 23
FILES = (7, 0, 12, 4)


def rows_of(first: int, count: int) -> pa.Table:
    """Rows whose values follow from their numbers."""
    numbers = range(first, first + count)
    return pa.table(
        {
            "id": pa.array(numbers, pa.int64()),
            "text": pa.array([f"row {number}" for number in numbers], pa.string()),
            "tokens": pa.array([list(range(number % 4)) for number in numbers], pa.list_(pa.int32())),
        }
    )


@pytest.fixture
def make_files(tmp_path: Path) -> Callable[..., list[Path]]:
    """Arrow files of the given numbers of rows, in record batches of five."""

    def make(*counts: int) -> list[Path]:
        paths, first = [], 0
        for number, count in enumerate(counts or FILES):
            path = tmp_path / "files" / f"{number}.arrow"
            with ShardWriter(path, rows_of(0, 0).schema, batch_rows=5) as writer:
                for batch in rows_of(first, count).to_batches():
                    writer.write(batch)
            paths.append(path)
            first += count
        return paths

    return make


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    """The rows of `dataset`."""
    listed: list[dict[str, Any]] = rows_of(0, ROWS).to_pylist()
    return listed


@pytest.fixture
def dataset(make_files: Callable[..., list[Path]], tmp_path: Path) -> Dataset:
    """Twenty-three rows in four mapped files, one of them without rows."""
    return Dataset.from_files(make_files(), cache_dir=tmp_path / "cache")


@pytest.fixture(params=["as it lies", "under an indices mapping", "in memory"])
def any_dataset(request: pytest.FixtureRequest, dataset: Dataset, tmp_path: Path) -> Dataset:
    """The same rows three ways."""
    if request.param == "in memory":
        return Dataset.from_arrow(rows_of(0, ROWS), cache_dir=tmp_path / "cache")
    if request.param == "as it lies":
        return dataset
    backwards = range(ROWS - 1, -1, -1)
    return dataset.select(backwards).select(backwards)


@pytest.fixture
def large(tmp_path: Path) -> Dataset:
    """Eight thousand rows of about 1 kB."""
    return Dataset.from_dict(
        {"n": list(range(8000)), "text": [f"{n}".rjust(1000, "x") for n in range(8000)]}, cache_dir=tmp_path / "cache"
    )
