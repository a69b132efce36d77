"""Rows that wait in memory, and how they come back."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.errors import StateError
from raydata_ext.streaming.nodes.base import Cursor
from raydata_ext.streaming.row_memory import RowMemory


class Batches(Cursor):
    """Record batches of ten rows."""

    def __init__(self, count):
        self.count, self.at, self.read = count, 0, []

    def next(self):
        if self.at == self.count:
            return None
        self.read.append(self.at)
        self.at += 1
        return pa.record_batch({"x": range(self.at * 10 - 10, self.at * 10)})

    def state(self):
        return self.at

    def load(self, state):
        self.at = state


def values(memory, references):
    return memory.gather(np.array(references)).column("x").to_pylist()


def test_rows_are_numbered_as_they_come_and_found_by_number():
    memory = RowMemory(Batches(3))
    assert memory.next().tolist() == list(range(10))
    memory.next()
    assert values(memory, [13, 0, 7, 13]) == [13, 0, 7, 13]


def test_waiting_rows_are_kept():
    memory = RowMemory(Batches(300))
    for _ in range(300):
        memory.next()
    memory.forget(np.array([2999, 5, 1700]))
    assert values(memory, [1700, 2999, 5]) == [1700, 2999, 5]


def recalled(memory, waiting, batches):
    """A memory that goes on where another stands."""
    again = RowMemory(batches)
    again.recall(memory.mark(waiting), waiting)
    again.load(memory.state())
    return again


def test_waiting_rows_are_read_again_from_the_oldest_on():
    memory = RowMemory(Batches(300))
    for _ in range(200):
        memory.next()
    waiting = np.array([1999, 1500, 1744])
    memory.forget(waiting)
    batches = Batches(300)
    again = recalled(memory, waiting, batches)
    assert batches.read == list(range(150, 200))
    assert values(again, [1999, 1500, 1744]) == [1999, 1500, 1744]
    assert again.next().tolist() == list(range(2000, 2010))


def test_a_position_can_be_saved_again_before_anything_is_read():
    memory = RowMemory(Batches(9))
    memory.next()
    state = memory.state()
    memory.next()
    waiting = np.array([12, 15])  # of a batch that is read only in part
    mark = memory.mark(waiting)
    again = RowMemory(Batches(9))
    again.recall(mark, waiting)
    again.load(state)
    assert again.mark(waiting) == mark == {"first": 10, "input": 1, "schema": pa.schema([("x", pa.int64())])}


def test_a_stream_that_has_become_shorter_is_noticed():
    memory = RowMemory(Batches(5))
    for _ in range(5):
        memory.next()
    with pytest.raises(StateError, match="ends before the place"):
        recalled(memory, np.array([3, 49]), Batches(3))
