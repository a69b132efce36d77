"""What mixtures have in common."""

from __future__ import annotations

import numpy as np

from raydata_ext.streaming.mixing import draws_by_weight, take_picked
from raydata_ext.streaming.nodes.base import Cursor
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.seeds import Seed


class Once(Cursor):
    """One piece."""

    def __init__(self, numbers):
        self.piece = np.array(numbers)

    def next(self):
        found, self.piece = self.piece, None
        return found

    def state(self):
        return None

    def load(self, state):
        raise AssertionError


def test_sources_are_drawn_as_numpy_draws_them():
    expected = np.random.default_rng(5).choice(3, size=1000, p=[0.5, 0.2, 0.3])
    assert draws_by_weight([0.5, 0.2, 0.3], Seed(5)).take(1000).tolist() == expected.tolist()


def test_each_source_gives_its_rows_in_order():
    readers = [RowReader(Once([0, 1, 2])), None, RowReader(Once([20, 21]))]
    assert all(reader is None or reader.available() for reader in readers)
    assert take_picked(readers, np.array([2, 0, 0, 2])).tolist() == [20, 0, 1, 21]
    assert take_picked(readers, np.array([0])).tolist() == [2]
