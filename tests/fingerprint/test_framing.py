"""Framing of parts and scalars."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydata_ext.fingerprint import combine, hash_value
from raydata_ext.fingerprint.framing import encode_scalar

PARTS = st.lists(st.one_of(st.text(), st.binary(), st.integers()), max_size=5)


@given(PARTS, PARTS)
def test_keys_are_equal_only_for_equal_parts(first, second):
    same = [(type(part), part) for part in first] == [(type(part), part) for part in second]
    assert (combine(*first) == combine(*second)) == same


def test_a_key_is_32_hex_digits_and_fixed_for_all_time():
    assert combine("a", b"b", 3) == "3707d756fb970d2a6baf4c28670053c0"
    assert combine("ab", "c") != combine("a", "bc")
    assert combine("1") != combine(1) != combine(b"1")


def test_a_part_of_another_type_is_refused_by_name():
    with pytest.raises(TypeError, match=r"not float: 1\.5"):
        combine("a", 1.5)


def test_numbers_of_different_types_differ():
    assert len({hash_value(value) for value in (1, 1.0, True, 1 + 0j, "1", b"1")}) == 6


def test_negative_zero_differs_from_zero_and_all_nans_are_one():
    other_nan = struct.unpack(">d", b"\xff\xf8\0\0\0\0\0\1")[0]
    assert hash_value(0.0) != hash_value(-0.0)
    assert math.isnan(other_nan)
    assert hash_value(float("nan")) == hash_value(other_nan)


@given(st.integers(), st.integers())
def test_integers_of_any_size_are_told_apart(first, second):
    assert (encode_scalar(first) == encode_scalar(second)) == (first == second)


def test_integers_beyond_the_limit_of_decimal_conversion_are_hashed():
    assert hash_value(10**6000) != hash_value(10**6000 + 1)


def test_long_and_surrogate_strings_are_hashed():
    assert hash_value("a" * 5000) != hash_value("a" * 5001)
    assert hash_value("\ud800") != hash_value("\ud801")
    assert hash_value("a" * 5000) != hash_value(b"a" * 5000)
