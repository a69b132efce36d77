"""Rows in pandas, polars and duckdb, which read them from the mapped files through Arrow."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

from raydata_ext.dataset import Dataset


@pytest.fixture(params=["as they lie", "shuffled", "in a format"])
def shown(request, any_dataset):
    if request.param == "in a format":
        return any_dataset.with_format("numpy", columns=["id"])
    return any_dataset if request.param == "as they lie" else any_dataset.shuffle(seed=1).select(range(3, 20))


def test_polars_reads_the_rows_in_their_order(shown):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(shown)
    assert frame.to_dicts() == shown.to_list()
    assert frame.schema["tokens"] == polars.List(polars.Int32)
    lazy = polars.from_arrow(shown.to_arrow()).lazy().filter(polars.col("id") > 5).select("id").collect()
    assert lazy["id"].to_list() == [row["id"] for row in shown.to_list() if row["id"] > 5]


def test_duckdb_queries_the_rows(shown):
    duckdb = pytest.importorskip("duckdb")
    rows = shown.to_arrow()  # noqa: F841 - named in the query
    found = duckdb.sql("select text, len(tokens) from rows where id % 2 = 0 order by id").fetchall()
    expected = sorted((row["id"], row["text"], len(row["tokens"])) for row in shown.to_list() if row["id"] % 2 == 0)
    assert found == [row[1:] for row in expected]
    reader = shown.to_reader()  # noqa: F841 - named in the query
    assert duckdb.sql("select count(*) from reader").fetchall() == [(len(shown),)]


def test_pandas_and_pyarrow_read_the_rows(shown):
    assert pa.table(shown).to_pylist() == shown.to_list()
    frame = shown.to_pandas(types_mapper=pd.ArrowDtype)
    assert frame["id"].tolist() == [row["id"] for row in shown.to_list()]


def test_what_they_give_back_is_a_data_set_again(dataset):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(dataset).filter(polars.col("id") < 4)
    assert Dataset.from_arrow(frame)["id"] == [0, 1, 2, 3]


def test_mapped_rows_are_not_copied(large, tmp_path):
    polars = pytest.importorskip("polars")
    saved = large.save_to_disk(tmp_path / "out")
    mapped = Dataset.from_file(saved.file_path(saved.files[0]))
    before = pa.total_allocated_bytes()
    table = pa.table(mapped)
    assert pa.total_allocated_bytes() - before < table.nbytes / 50, "the columns are views of the mapped file"
    in_file = [chunk.buffers()[1].address for chunk in table["n"].chunks]
    in_polars = [chunk.to_numpy(allow_copy=False).ctypes.data for chunk in polars.DataFrame(mapped)["n"].get_chunks()]
    assert in_polars == in_file
