"""Reading by rows what comes in pieces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.streaming.nodes.base import Cursor
from raydata_ext.streaming.row_reader import RowReader


class Pieces(Cursor):
    """Numbers from 0 on, in pieces of given sizes."""

    def __init__(self, sizes):
        self.sizes, self.at = sizes, 0

    def next(self):
        if self.at == len(self.sizes):
            return None
        self.at += 1
        return np.arange(sum(self.sizes[: self.at - 1]), sum(self.sizes[: self.at]))

    def state(self):
        return self.at

    def load(self, state):
        self.at = state


SIZES = st.lists(st.integers(0, 5), max_size=8)


@settings(max_examples=150, deadline=None)
@given(SIZES, st.lists(st.integers(1, 7), max_size=12))
def test_rows_come_in_the_numbers_that_are_asked_for(sizes, counts):
    reader, total, done = RowReader(Pieces(sizes)), sum(sizes), 0
    for count in counts:
        rows = reader.read(count)
        expected = list(range(done, min(done + count, total)))
        assert ([] if rows is None else rows.tolist()) == expected
        done += len(expected)


@settings(max_examples=150, deadline=None)
@given(SIZES, st.integers(0, 30), st.booleans())
def test_a_position_is_exact_to_the_row(sizes, place, look_ahead):
    reader, total = RowReader(Pieces(sizes)), sum(sizes)
    reader.skip(place)
    if look_ahead:
        reader.available()
    again = RowReader(Pieces(sizes))
    again.load(reader.state())
    rest = again.read(None)
    assert ([] if rest is None else rest.tolist()) == list(range(min(place, total), total))


def test_rows_that_were_shown_are_not_taken():
    reader = RowReader(Pieces([3]))
    assert reader.available() == 3
    assert reader.peek().tolist() == [0, 1, 2]
    reader.start += 2
    assert reader.take(1).tolist() == [2]
    assert reader.available() == 0


@pytest.mark.parametrize("sizes", [[], [0], [2]])
def test_the_end_is_reported_again_and_again(sizes):
    reader = RowReader(Pieces(sizes))
    reader.read(None)
    assert reader.available() == reader.available() == 0
    assert reader.read(1) is None
