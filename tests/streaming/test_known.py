"""What is known of a whole from its parts."""

from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.errors import SchemaError
from raydata_ext.streaming.known import known_schema, known_sum


def test_a_sum_is_known_where_all_counts_are():
    assert known_sum([]) == 0
    assert known_sum([2, 0, 3]) == 5
    assert known_sum([2, None]) is None


def test_a_schema_is_known_where_all_are_and_has_the_columns_of_all():
    first, second = pa.schema([("x", pa.int64())]), pa.schema([("x", pa.float64()), ("y", pa.string())])
    assert known_schema([]) is None
    assert known_schema([first, None]) is None
    assert known_schema([first, first]) == first
    assert known_schema([first, second, first]) == second


def test_types_that_do_not_go_together_are_an_error():
    with pytest.raises(SchemaError, match="no common type"):
        known_schema([pa.schema([("x", pa.int64())]), pa.schema([("x", pa.string())])])
