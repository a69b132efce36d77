"""Shards that are runs of rows of a table."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.streaming.make_source import source_of_tables
from raydata_ext.streaming.rows import PIECE_ROWS
from raydata_ext.streaming.seeds import Seed


def pieces(node, first=0):
    cursor, found = node.open({id(node.table): first}), []
    while (piece := cursor.next()) is not None:
        found.append(piece)
    return found


def test_references_count_from_the_base_of_the_table(tables):
    [piece] = pieces(tables(2, 0, 3), first=100)
    assert piece.tolist() == [100, 101, 102, 103, 104]


def test_small_shards_are_handed_on_together_and_large_ones_in_pieces(tables):
    assert [len(piece) for piece in pieces(tables(*[10] * 5))] == [50]
    assert [len(piece) for piece in pieces(tables(3 * PIECE_ROWS + 1))] == [PIECE_ROWS] * 3 + [1]


def test_shuffling_permutes_the_shards_and_nothing_within_them(tables, xs):
    node = tables(*[3] * 6)
    shuffled = xs(node.shuffle_data_sources(Seed(4)))
    assert sorted(shuffled) == xs(node) != shuffled
    assert [shuffled[i : i + 3] for i in range(0, 18, 3)] == [[x, x + 1, x + 2] for x in shuffled[::3]]


def test_readers_beyond_the_shards_get_a_part_of_each(tables, xs):
    node = tables(5, 3)
    assert [xs(node.split(3, i)) for i in range(3)] == [[0, 1, 5], [2, 3, 6], [4, 7]]
    assert [xs(node.split(2, i)) for i in range(2)] == [[0, 1, 2, 3, 4], [5, 6, 7]]


def test_shards_are_cut_evenly_or_at_record_batches(tables, xs):
    assert tables(5, 3).reshard_data_sources(4).runs.tolist() == [[0, 3], [3, 5], [5, 7], [7, 8]]
    batches = pa.Table.from_batches([pa.record_batch({"x": range(n)}) for n in (2, 1, 4)])
    assert source_of_tables([batches]).reshard_data_sources().runs.tolist() == [[0, 2], [2, 3], [3, 7]]
    assert xs(tables(0, 0).reshard_data_sources(5)) == []


def test_a_table_without_rows_ends_at_once(tables, xs):
    assert xs(tables(0)) == []
    assert tables(0).num_rows == 0


@pytest.mark.parametrize("sizes", [(1,), (4, 0, 2), (0, 3)])
def test_it_goes_on_at_every_row(tables, sizes, goes_on_at_every_row):
    goes_on_at_every_row(lambda: tables(*sizes))


def test_its_settings_tell_other_rows_and_not_the_order_of_shards(tables):
    node = tables(3, 4)
    assert node.settings == node.shuffle_data_sources(Seed(1)).settings == tables(3, 4).settings
    assert node.settings != tables(3, 5).settings
    assert np.array_equal(node.at_epoch(3).runs, node.runs)
