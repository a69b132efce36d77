"""What a data set shows of itself."""

from __future__ import annotations

from pathlib import Path

from raydata_ext.dataset import Dataset


def test_one_line_tells_rows_columns_and_format(dataset):
    assert repr(dataset) == "Dataset(23 rows; id: int64, text: string, tokens: list<item: int32>)"
    assert repr(dataset.with_format("numpy", columns=["id"])).endswith("; format numpy of id)")
    assert repr(Dataset.from_dict({})) == "Dataset(0 rows; no columns)"
    assert repr(Dataset.from_dict({"a": range(1_234_567)})).startswith("Dataset(1,234,567 rows;")


def test_a_notebook_shows_a_table_of_the_first_rows(dataset):
    page = dataset.shuffle(seed=1)._repr_html_()
    assert "23 rows, 3 columns, " in page
    assert "kB in 3 files" in page
    assert "<th>text</th>" in page
    assert "<td><i>int64</i></td>" in page
    shown = [number for number in range(23) if f"<td>row {number}</td>" in page]
    assert sorted(dataset.shuffle(seed=1)["id"][:5]) == shown


def test_values_are_shortened_and_cannot_become_markup():
    page = Dataset.from_dict({"<a>": ["<script>" + "x" * 1000], "b": [None]})._repr_html_()
    assert "<script>" not in page
    assert "&lt;a&gt;" in page
    assert len(page) < 1000
    assert "in memory" in page
    assert "<td>None</td>" in page


def test_files_that_are_gone_are_told_and_do_not_break_the_line(dataset):
    dataset[0]
    Path(dataset.cache_files[-1]["filename"]).unlink()
    assert repr(dataset).startswith("Dataset(23 rows")
    assert "1 of them missing" in dataset._repr_html_()
