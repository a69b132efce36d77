from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from raydata_ext.formatting.one_kind import of_one_kind

NOON = dt.datetime(2020, 1, 1, 12, tzinfo=dt.timezone.utc)
BERLIN = NOON.astimezone(ZoneInfo("Europe/Berlin"))
UTC = pa.timestamp("us", "UTC")


@pytest.mark.parametrize(
    "values", [[1, None], ["a"], [b"a", None], [[dt.date(2020, 1, 1)]], [{"a": ["x"]}, None], [NOON]]
)
def test_values_of_one_kind_are_the_array_that_they_were(values):
    array = pa.array(values)

    assert of_one_kind(array, values) is array


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([NOON, BERLIN], UTC),
        ([{"a": [BERLIN]}, {"a": [NOON, None]}], pa.struct([("a", pa.list_(UTC))])),
    ],
)
def test_times_of_several_zones_are_the_same_instants_in_utc(values, kind):
    array = of_one_kind(pa.array(values), values)

    assert array.type == kind
    assert array.to_pylist() == values


def test_long_lists_are_looked_at_like_others():
    values = [[BERLIN, NOON], None]
    array = of_one_kind(pa.array(values, pa.large_list(pa.timestamp("us", "Europe/Berlin"))), values)

    assert array.type == pa.large_list(UTC)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([dt.date(2020, 1, 1), 3], r"int and date32\[day\] do not go together"),
        ([dt.date(2020, 1, 1), dt.datetime(2020, 1, 1)], r"datetime and date32\[day\] do not"),  # noqa: DTZ001 - the case
        ([NOON, NOON.replace(tzinfo=None)], "times with and without a time zone do not"),
        ([["a", b"\xff"]], "bytes and str do not"),
    ],
)
def test_values_of_several_kinds_are_an_error_that_names_two(values, reason):
    with pytest.raises(pa.ArrowInvalid, match=reason):
        of_one_kind(pa.array(values), values)
