from __future__ import annotations

import datasets
import pyarrow as pa

from raydata_ext.formatting import get_formatter

TABLE = pa.table(
    {
        "n": pa.array([1, None, 3], pa.int32()),
        "s": ["x", "y", None],
        "l": [[1], [], None],
        "st": [{"a": 1, "b": ["x"]}, {"a": None, "b": []}, {"a": 3, "b": None}],
        "f": [0.5, None, 1.5],
    }
)


def test_rows_and_batches_are_those_of_hugging_face():
    theirs, ours = datasets.Dataset(TABLE), get_formatter(None)

    assert repr(ours.batch(TABLE)) == repr(theirs[:])
    assert [repr(ours.row(TABLE.to_batches()[0], row)) for row in range(3)] == [repr(row) for row in theirs]
    assert ours.column(TABLE["l"]) == theirs[:]["l"]
