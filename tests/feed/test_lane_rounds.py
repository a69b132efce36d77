"""Lanes are read in turn from any place on, and go back to any place."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.feed.lane_rounds import LaneRounds
from raydata_ext.streaming.nodes.table_source import TableCursor
from raydata_ext.streaming.row_reader import RowReader


def readers(lanes, rounds, pieces):
    """Readers of lanes of so many rows, in runs of some lengths; lane i has the references from i * 1000 on."""
    found = []
    for lane in range(lanes):
        bounds = np.minimum(np.cumsum([0, *pieces, rounds]), rounds) + 1000 * lane
        found.append(RowReader(_Pieces(np.stack([bounds[:-1], bounds[1:]], axis=1))))
    return found


class _Pieces(TableCursor):
    """Each run is a piece."""

    def next(self):
        while self._shard < len(self._runs):
            low, high = self._runs[self._shard].tolist()
            self._shard += 1
            if low < high:
                return np.arange(low, high)
        return None


@settings(max_examples=200, deadline=None)
@given(
    lanes=st.integers(1, 7),
    rounds=st.integers(1, 30),
    pieces=st.lists(st.integers(0, 9), max_size=6),
    block=st.integers(1, 40),
    data=st.data(),
)
def test_rows_are_those_of_the_lanes_in_turn_and_positions_are_exact(lanes, rounds, pieces, block, data):
    end = lanes * rounds
    expected = [1000 * (place % lanes) + place // lanes for place in range(end)]
    place = data.draw(st.integers(0, end))
    started = readers(lanes, rounds, pieces)
    for number, reader in enumerate(started):
        reader.skip((place + lanes - 1 - number) // lanes)
    found = LaneRounds(started, place, end, block_rows=block)
    while place < end:
        count = data.draw(st.integers(1, end - place))
        assert found.take(count).tolist() == expected[place : place + count]
        place += count
        resumed = readers(lanes, rounds, pieces)
        for reader, state in zip(resumed, found.states(), strict=True):
            reader.load(state)
        if place < end:
            assert LaneRounds(resumed, place, end).take(end - place).tolist() == expected[place:]


def test_rows_that_were_taken_stay_as_they_are_when_more_are_read():
    for lanes in (1, 3):
        found = LaneRounds(readers(lanes, 20, [5, 5, 5]), 0, 20 * lanes, block_rows=5 * lanes)
        first = found.take(5 * lanes)
        before = first.tolist()
        found.take(10 * lanes)
        assert first.tolist() == before
