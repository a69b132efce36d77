from __future__ import annotations

import datasets
import pandas as pd
import pyarrow as pa
import pytest

from raydata_ext.formatting import batch_from_table, get_formatter

TABLE = pa.table({"n": [1, 2], "s": ["x", None], "f": [0.5, None], "l": [[1], [2, 3]]})
NULLABLE = pa.table({"n": pa.array([2**53 + 1, None]), "u": pa.array([1, None], pa.uint8()), "b": [True, None]})


def test_frames_are_those_of_hugging_face():
    theirs, ours = datasets.Dataset(TABLE).with_format("pandas"), get_formatter("pandas")

    pd.testing.assert_frame_equal(ours.batch(TABLE), theirs[:])
    pd.testing.assert_frame_equal(ours.row(TABLE.to_batches()[0], 1), theirs[1])


def test_integers_with_nulls_stay_integers_where_hugging_face_makes_floats():
    frame = get_formatter("pandas").batch(NULLABLE)

    assert frame.dtypes.astype(str).to_dict() == {"n": "Int64", "u": "UInt8", "b": "boolean"}
    assert frame["n"][0] == 2**53 + 1
    assert datasets.Dataset(NULLABLE).with_format("pandas")[:]["n"].dtype == float


@pytest.mark.parametrize("table", [TABLE, NULLABLE])
def test_a_frame_comes_back_as_the_arrow_data_it_was(table):
    assert batch_from_table(get_formatter("pandas").batch(table)).equals(table.to_batches()[0])


def test_integers_with_nulls_inside_of_lists_and_structs_stay_integers():
    big = 2**53 + 1
    table = pa.table({"l": [[big, None], [1]], "s": [{"a": big}, {"a": None}]})
    frame = get_formatter("pandas").batch(table)

    assert frame["l"][0].tolist() == [big, None]
    assert frame["s"].tolist() == [{"a": big}, {"a": None}]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([[pd.Timestamp("2020-01-01", tz="UTC").to_pydatetime()], None], pa.list_(pa.timestamp("us", "UTC"))),
        ([{"a": pd.Timestamp("2020-01-01 00:00:00.000000001")}], pa.struct([("a", pa.timestamp("ns"))])),
        ([[b"abc", None], None, []], pa.list_(pa.binary(3))),
    ],
)
def test_values_that_pyarrow_has_no_way_for_to_pandas_are_those_of_python(values, kind):
    column = get_formatter("pandas").column(pa.array(values, kind))

    assert [value if value is None else list(value) for value in column] == [
        value if value is None else list(value) for value in values
    ]
    assert column.dtype == object


def test_no_columns_still_have_their_rows():
    assert len(get_formatter("pandas", []).batch(TABLE)) == 2


def test_a_column_is_a_series():
    assert get_formatter("pandas").column(TABLE["n"]).tolist() == [1, 2]
