"""Amounts as people read them."""

from __future__ import annotations

import pytest

from raydata_ext.engine.amounts import counted, readable_bytes, readable_seconds


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (170, "170 B"),
        (999, "999 B"),
        (999.7, "1 kB"),
        (1000, "1 kB"),
        (23_327_397, "23.3 MB"),
        (999_600_000, "1 GB"),
        (4e9, "4 GB"),
        (2.5e15, "2.5 PB"),
        (7e18, "7,000 PB"),
    ],
)
def test_bytes_have_three_digits_and_powers_of_a_thousand(number, text):
    assert readable_bytes(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.4, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (125, "2 min 5 s"),
        (3600, "1 h"),
        (3661, "1 h 1 min"),
        (86_400 + 7300, "1 d 2 h"),
        (10 * 86_400, "10 d"),
    ],
)
def test_times_have_at_most_two_units(seconds, text):
    assert readable_seconds(seconds) == text


def test_one_thing_is_singular():
    assert [counted(number, "shard") for number in (0, 1, 2, 150_448)] == [
        "0 shards",
        "1 shard",
        "2 shards",
        "150,448 shards",
    ]
