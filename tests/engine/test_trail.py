"""Where a row came from, in words."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.engine.trail import Trail


@pytest.fixture
def trail():
    trail = Trail()
    sizes = [("a.jsonl", 3), ("a.jsonl", 2), ("empty.jsonl", 0), ("b.jsonl", 4)]
    assert sum(chunk.num_rows for chunk in trail.follow((n, pa.record_batch({"x": range(k)})) for n, k in sizes)) == 9
    return trail


@pytest.mark.parametrize(
    ("origins", "place"),
    [
        ([0], "a.jsonl: row 0"),
        ([4], "a.jsonl: row 4"),
        ([1, 2, 4], "a.jsonl: rows 1 to 4"),
        ([5], "b.jsonl: row 0"),
        ([4, 5], "a.jsonl: row 4 to b.jsonl: row 0"),
        ([], "b.jsonl: no rows"),
    ],
)
def test_a_row_is_named_by_its_file_and_its_number_in_there(trail, origins, place):
    assert trail.place(np.array(origins, dtype=np.int64)) == place


def test_rows_are_counted_over_all_pieces(trail):
    assert trail.rows_read == 9


def test_rows_that_cannot_be_read_keep_their_numbers():
    trail = Trail()

    def batches():
        trail.leave_out("a", 1)
        trail.leave_out("a", 4)
        yield "a", pa.record_batch({"n": range(3)})
        trail.leave_out("a", 6)
        yield "a", pa.record_batch({"n": range(1)})
        trail.leave_out("b", 0)
        yield "b", pa.record_batch({"n": range(2)})
        trail.leave_out("b", 3)

    origins = [chunk.origins.tolist() for chunk in trail.follow(batches())]
    assert origins == [[0, 2, 3], [5], [8, 9]]
    assert trail.rows_read == 11
    assert [trail.find(origin) for origin in (5, 8, 9)] == [("a", 5), ("b", 1), ("b", 2)]
