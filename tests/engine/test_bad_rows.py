"""Finding the rows that a step fails on."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.engine.bad_rows import NoRowToBlameError, failing_rows
from raydata_ext.engine.chunk import Chunk


def chunk_of(rows):
    return Chunk(pa.record_batch({"n": pa.array(range(rows), pa.int64())}), np.arange(rows))


@settings(deadline=None)
@given(st.integers(1, 300), st.data())
def test_exactly_the_bad_rows_are_found_in_few_attempts(rows, data):
    bad = data.draw(st.sets(st.integers(0, rows - 1), min_size=1))
    attempts = []

    def attempt(part):
        attempts.append(part.num_rows)
        found = bad.intersection(part.batch.column("n").to_pylist())
        return ValueError(f"{sorted(found)}") if found else None

    failures = failing_rows(chunk_of(rows), ValueError(f"{sorted(bad)}"), attempt)
    assert {row: str(error) for row, error in failures.items()} == {row: f"[{row}]" for row in bad}
    assert list(failures) == sorted(bad)
    assert len(attempts) <= 2 * len(bad) * (1 + math.log2(rows / len(bad)) + 1)


def test_where_no_half_fails_no_row_is_to_blame():
    def attempt(part):
        return ValueError("together") if part.num_rows > 2 else None

    with pytest.raises(NoRowToBlameError) as caught:
        failing_rows(chunk_of(8), ValueError("all"), attempt)
    assert caught.value.rows.origins.tolist() == [0, 1, 2, 3]
    assert str(caught.value.error) == "together"
