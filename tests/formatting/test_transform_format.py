from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from raydata_ext.formatting import get_formatter

BATCH = pa.RecordBatch.from_pydict({"a": [1, 2, 3], "b": ["x", "y", "z"]})


def doubled(batch):
    return {"twice": [2 * value for value in batch["a"]], "given": [list(batch)] * len(batch["a"])}


def test_rows_and_batches_are_what_the_function_makes():
    formatter = get_formatter("custom", transform=doubled)
    assert formatter.batch(BATCH) == {"twice": [2, 4, 6], "given": [["a", "b"]] * 3}
    assert formatter.row(BATCH, 1) == {"twice": 4, "given": ["a", "b"]}
    assert formatter.rows(BATCH)[2] == {"twice": 6, "given": ["a", "b"]}
    assert formatter.column(BATCH.column("b")) == ["x", "y", "z"]


def test_the_function_is_given_the_columns_of_the_format():
    formatter = get_formatter("custom", ["a"], transform=doubled)
    assert formatter.row(BATCH, 0) == {"twice": 2, "given": ["a"]}
    formatter = get_formatter("custom", ["a"], output_all_columns=True, transform=doubled)
    assert formatter.row(BATCH, 0) == {"b": "x", "twice": 2, "given": ["a"]}


def test_rows_that_are_asked_for_together_are_made_together():
    calls = []
    formatter = get_formatter("custom", transform=lambda batch: calls.append(len(batch["a"])) or batch)
    assert formatter.rows(BATCH) == BATCH.to_pylist()
    assert calls == [3]


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [([1, 2, 3], TypeError, "returned list"), ({"n": [1]}, ValueError, "1 values of 'n' for 3 rows")],
)
def test_what_is_no_batch_is_an_error(made, error, message):
    with pytest.raises(error, match=message):
        get_formatter("custom", transform=lambda batch: made).batch(BATCH)


def test_a_formatter_travels_with_its_function():
    assert pickle.loads(pickle.dumps(get_formatter("custom", transform=doubled))).row(BATCH, 2)["twice"] == 6
