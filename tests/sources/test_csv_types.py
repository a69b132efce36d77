"""The types of CSV columns."""

from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.sources.csv_types import ColumnType


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], pa.null()),
        ([None], pa.null()),
        (["1", None, "-2"], pa.int64()),
        (["9223372036854775807"], pa.int64()),
        (["1", "2.5", "1e9", "nan"], pa.float64()),
        (["true", "False", "TRUE"], pa.bool_()),
        (["true", "1"], pa.string()),
        (["1", "x"], pa.string()),
        ([""], pa.string()),
        ([" 1"], pa.string()),
        (["007"], pa.string()),
        (["1.5", "007"], pa.string()),
        (["0x1F"], pa.string()),
        (["9223372036854775808"], pa.string()),
        (["1.5", "9007199254740993"], pa.string()),
        (["2020-01-01"], pa.string()),
        (["0", "0.5", "-0.5"], pa.float64()),
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_all_values_decide_and_nothing_that_they_say_is_lost(values, kind: pa.DataType, at_once: bool) -> None:
    column = ColumnType()
    for part in [values] if at_once else [[value] for value in values]:
        column.add(pa.array(part, pa.string()))
    assert column.type == kind
