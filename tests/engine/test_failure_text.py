"""What is said of exceptions, whatever users make of them."""

from __future__ import annotations

import asyncio

import pyarrow as pa
import pytest

from raydata_ext.engine.failure_text import described, is_failure, message_of, users_traceback
from raydata_ext.formatting import LazyRow


def test_the_traceback_shows_the_users_frames_and_not_ours():
    def users_function(row):
        return row["missing"]

    with pytest.raises(KeyError) as caught:
        users_function(LazyRow(pa.record_batch({"x": [1]}), 0))
    text = users_traceback(caught.value)
    assert 'return row["missing"]' in text
    assert "lazy_row" not in text
    assert text.endswith("KeyError: 'missing'")


def test_the_traceback_tells_what_an_error_was_raised_from():
    def users_function():
        try:
            int("x")
        except ValueError as error:
            raise RuntimeError("cannot parse") from error

    with pytest.raises(RuntimeError) as caught:
        users_function()
    text = users_traceback(caught.value)
    assert "ValueError: invalid literal" in text
    assert "direct cause" in text
    assert text.endswith("RuntimeError: cannot parse")


class MuteError(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def test_an_error_that_cannot_say_what_is_wrong_is_named_all_the_same():
    assert message_of(MuteError("what")) == "(no message: its __str__ raised RuntimeError)"
    assert described(MuteError("what")).startswith("MuteError: (no message")


def test_a_long_message_is_cut_and_keeps_both_ends():
    text = described(ValueError("begin " + "x" * 10_000_000 + " end"))
    assert len(text) < 25_000
    assert text.startswith("ValueError: begin xxx")
    assert "characters) ..." in text
    assert text.endswith("xxx end")


PanicException = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError(), True),
        (asyncio.CancelledError(), True),
        (PanicException(), True),
        (KeyboardInterrupt(), False),
        (SystemExit(0), False),
    ],
)
def test_a_failure_is_told_from_the_wish_to_end(error, expected):
    assert is_failure(error) is expected
