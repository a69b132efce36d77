"""One row of each group of runs in turn, by arithmetic: what is read piece by piece, at the same positions."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.streaming import IterableDataset
from raydata_ext.streaming.nodes.concat import Concat
from raydata_ext.streaming.nodes.gather import open_rows, table_bases
from raydata_ext.streaming.nodes.round_robin import RoundRobin
from raydata_ext.streaming.nodes.table_rounds import TableRounds, open_in_turn
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.rows import PIECE_ROWS
from raydata_ext.streaming.rows_done import rows_done


def group(sizes):
    """A node whose shards have these numbers of rows; those of two tables where there are several."""
    tables = [IterableDataset.from_tables([pa.table({"x": np.arange(size)}) for size in part]).node for part in sizes]
    return tables[0] if len(tables) == 1 else Concat(tuple(tables))


def read(cursor):
    rows = RowReader(cursor).read(None)
    return [] if rows is None else rows.tolist()


groups = st.lists(
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=3), min_size=1, max_size=2), min_size=2, max_size=6
)


@settings(max_examples=100, deadline=None)
@given(sizes=groups, data=st.data())
def test_the_order_and_every_position_are_those_of_reading_piece_by_piece(sizes, data):
    node = RoundRobin(tuple(group(one) for one in sizes))
    bases = table_bases(node.tables)
    whole = read(node.open(bases))
    assert read(open_in_turn(node, bases)) == whole
    done = data.draw(st.integers(0, len(whole)))
    for opened, resumed in [(open_in_turn, node.open), (node.open, open_in_turn), (open_in_turn, open_in_turn)]:
        first = RowReader(opened(node, bases) if opened is open_in_turn else opened(bases))
        first.skip(done)
        second = RowReader(resumed(node, bases) if resumed is open_in_turn else resumed(bases))
        second.load(first.state())
        rest = second.read(None)
        assert ([] if rest is None else rest.tolist()) == whole[done:]


@pytest.mark.parametrize("count", [2, 3, 7, 10])
def test_pieces_are_of_one_length_however_many_groups_there_are(count):
    node = RoundRobin(tuple(group([[5000, 7000]]) for _ in range(count)))
    bases = table_bases(node.tables)
    cursor, expected, place = TableRounds(node, bases), np.array(read(node.open(bases))), 0
    while (piece := cursor.next()) is not None:
        assert len(piece) == min(PIECE_ROWS, len(expected) - place)
        assert (piece == expected[place : place + len(piece)]).all()
        place += len(piece)
        assert rows_done(node, cursor.state()) == place
        again = TableRounds(node, bases)
        again.load(cursor.state())
        following = again.next()
        assert (following is None) == (place == len(expected))
        assert following is None or (following == expected[place : place + len(following)]).all()
    assert place == len(expected)


def test_groups_of_anything_but_tables_are_read_piece_by_piece(tables):
    node = RoundRobin((group([[3]]), RoundRobin((group([[2]]), group([[4]])))))
    bases = table_bases(node.tables)
    assert not isinstance(open_in_turn(node, bases), TableRounds)
    assert read(open_in_turn(node, bases)) == read(open_rows(node, bases))
