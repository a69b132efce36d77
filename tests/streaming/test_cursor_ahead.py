"""Rows are copied ahead on a thread, and nobody who reads, saves a position, fails or forks can tell."""

from __future__ import annotations

import os
import threading

import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.streaming import IterableDataset
from raydata_ext.streaming.cursor_ahead import CursorAhead
from raydata_ext.streaming.nodes.base import Cursor
from raydata_ext.streaming.row_reader import RowReader


class Numbers(Cursor):
    """Pieces of ten numbers; some of them fail when they are first made."""

    copied = True

    def __init__(self, stop=100, failing=()):
        self.at, self.stop, self.failing, self.threads = 0, stop, set(failing), []

    def next(self):
        self.threads.append(threading.current_thread().name)
        if self.at in self.failing:
            self.failing.remove(self.at)
            self.at += 5  # half of the piece was made
            raise OSError("a failure")
        first, self.at = self.at, min(self.at + 10, self.stop)
        return np.arange(first, self.at) if first < self.at else None

    def state(self):
        return self.at

    def load(self, state):
        self.at = state


def on_own_threads(numbers):
    return [name != threading.current_thread().name for name in numbers.threads]


def test_the_pieces_are_those_of_the_cursor_and_the_end_comes_again_and_again():
    ahead = CursorAhead(Numbers(stop=35))
    assert [ahead.next().tolist() for _ in range(4)] == [
        [*range(10)],
        [*range(10, 20)],
        [*range(20, 30)],
        [*range(30, 35)],
    ]
    assert [ahead.next(), ahead.next()] == [None, None]


def test_it_begins_with_the_piece_after_the_second():
    numbers = Numbers()
    ahead = CursorAhead(numbers)
    ahead.next()
    assert len(numbers.threads) == 1
    ahead.next()
    ahead.rest()
    assert on_own_threads(numbers) == [False, False, True]


def test_pieces_that_are_not_copied_are_made_when_they_are_asked_for():
    numbers = Numbers()
    numbers.copied = False
    ahead = CursorAhead(numbers)
    for _ in range(5):
        ahead.next()
    assert on_own_threads(numbers) == [False] * 5


def test_the_position_is_that_of_the_pieces_that_were_handed_out():
    ahead = CursorAhead(Numbers())
    for piece in range(10):
        assert ahead.state() == 10 * piece
        ahead.next()
    ahead.load(30)
    assert (ahead.state(), ahead.next().tolist()) == (30, [*range(30, 40)])


def test_a_piece_that_could_not_be_made_can_be_asked_for_again():
    reader = RowReader(CursorAhead(Numbers(failing=[0, 20, 50, 60])))
    found, failures = [], 0
    while True:
        try:
            rows = reader.read(10)
        except OSError:
            failures += 1
            continue
        if rows is None:
            break
        found += rows.tolist()
    assert failures == 4
    assert found == [*range(100)]


def shuffled(rows=60_000):
    table = pa.table({"x": range(rows)})
    return IterableDataset.from_tables([table]).shuffle(3, buffer_size=10_000).with_format("arrow")


def test_a_state_between_batches_is_that_of_rows_that_are_not_copied_ahead():
    expected = [row["x"] for row in shuffled().with_format(None)]
    stream, done, states = shuffled(), [], []
    for batch in stream.iter(4321):
        done += batch.column("x").to_pylist()
        states.append((len(done), stream.state_dict()))
    assert done == expected
    for count, state in states:
        later = shuffled()
        later.load_state_dict(state)
        assert [x for batch in later.iter(999) for x in batch.column("x").to_pylist()] == expected[count:]


def test_threads_end_with_the_pass_that_they_read_for():
    batches = shuffled().iter(1000)
    for _ in range(20):
        next(batches)
    threads = [thread for thread in threading.enumerate() if "copying ahead" in thread.name]
    assert threads
    batches.close()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_pass_goes_on_in_a_forked_process():
    expected = [x for batch in shuffled().iter(1000) for x in batch.column("x").to_pylist()]
    batches = shuffled().iter(1000)
    head = [x for _ in range(20) for x in next(batches).column("x").to_pylist()]
    assert head == expected[:20_000]
    child = os.fork()
    if child == 0:
        os._exit(0 if [x for batch in batches for x in batch.column("x").to_pylist()] == expected[20_000:] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert [x for batch in batches for x in batch.column("x").to_pylist()] == expected[20_000:]
