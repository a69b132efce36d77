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


class FailsOnce(Pieces):
    """The same, but the first attempt at one piece fails when the cursor has moved on already."""

    def __init__(self, sizes, fails_at):
        super().__init__(sizes)
        self.fails_at = fails_at

    def next(self):
        piece = super().next()
        if self.at == self.fails_at:
            self.fails_at = None
            raise KeyboardInterrupt
        return piece


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.data())
def test_a_piece_that_failed_comes_again_whether_one_goes_on_or_resumes(sizes, data):
    fails_at = data.draw(st.integers(1, len(sizes)))
    reader, done = RowReader(FailsOnce(sizes, fails_at)), []
    if data.draw(st.booleans()):
        skipped = data.draw(st.integers(0, sum(sizes[: fails_at - 1])))
        reader.load({"at": 0, "rows": skipped})
        done += range(skipped)
    with pytest.raises(KeyboardInterrupt):
        done.extend(iter(lambda: int(reader.take(1)[0]) if reader.available() else None, None))
    again = RowReader(Pieces(sizes))
    again.load(reader.state())
    for one in (reader, again):
        rest = one.read(None)
        assert done + ([] if rest is None else rest.tolist()) == list(range(sum(sizes)))
