"""Types of tokens, their codes, and tokens that do not fit."""

from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.errors import DamagedInputError
from raydata_ext.sources.token_types import best_fitting_int_dtype, cast_tokens, code, dtype_of_code

CODES = {
    1: np.uint8,
    2: np.int8,
    3: np.int16,
    4: np.int32,
    5: np.int64,
    6: np.float64,
    8: np.uint16,
    9: np.uint32,
    10: np.uint64,
}


@pytest.mark.parametrize(("number", "dtype"), CODES.items())
def test_codes_are_those_of_fairseq(number, dtype):
    assert code(dtype) == number
    assert dtype_of_code(number, 3, 3 * np.dtype(dtype).itemsize, "x") == dtype


def test_code_seven_is_single_precision_or_double_by_the_size_of_the_file():
    assert dtype_of_code(7, 3, 12, "x") == np.float32
    assert dtype_of_code(7, 3, 24, "x") == np.float64
    assert code(np.float32) == 7


def test_what_cannot_be_stored_is_refused():
    with pytest.raises(ValueError, match="cannot be stored as float16"):
        code(np.float16)
    with pytest.raises(DamagedInputError, match="x: unknown type code 11"):
        dtype_of_code(11, 0, 0, "x")
    with pytest.raises(DamagedInputError, match=r"3 elements of int32, so the \.bin file must have 12 bytes.* 11"):
        dtype_of_code(4, 3, 11, "x")


@pytest.mark.parametrize(
    ("size", "dtype"), [(0, np.uint16), (65499, np.uint16), (65500, np.int32), (None, np.int32), (250_002, np.int32)]
)
def test_the_type_is_the_smallest_that_every_reader_knows(size, dtype):
    assert best_fitting_int_dtype(size) == dtype


@pytest.mark.parametrize(
    ("value", "dtype"), [(65536, np.uint16), (-1, np.uint16), (128, np.int8), (2**31, np.int32), (70000, np.uint16)]
)
def test_a_token_that_does_not_fit_is_named(value, dtype):
    with pytest.raises(ValueError, match=rf"item 3: token {value} does not fit {np.dtype(dtype)} "):
        cast_tokens(np.array([1, value]), np.dtype(dtype), "item 3")


def test_tokens_that_fit_keep_their_values():
    assert cast_tokens(np.array([0, 65535]), np.dtype(np.uint16), "").tolist() == [0, 65535]
    assert cast_tokens(np.empty(0), np.dtype(np.uint16), "").dtype == np.uint16
    with pytest.raises(ValueError, match="must be integers"):
        cast_tokens(np.array([0.5]), np.dtype(np.uint16), "")
