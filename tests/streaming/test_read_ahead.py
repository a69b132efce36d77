"""The next batch is read while one works on the one before."""

from __future__ import annotations

import threading

import pytest

from raydata_ext.streaming.read_ahead import read_ahead


def test_all_batches_come_in_order():
    for count in range(5):
        assert list(read_ahead(iter(range(count)))) == list(range(count))


def test_the_next_batch_is_read_before_it_is_asked_for():
    read = [threading.Event() for _ in range(4)]

    def batches():
        for number, event in enumerate(read):
            event.set()
            yield number

    ahead = read_ahead(batches())
    assert next(ahead) == 0
    assert not read[1].is_set()  # who wants the first only does not wait for more
    assert next(ahead) == 1
    assert read[2].wait(20)


def test_an_error_comes_where_the_batch_would():
    def batches():
        yield from (0, 1)
        raise OSError("disk")

    ahead = read_ahead(batches())
    assert [next(ahead), next(ahead)] == [0, 1]
    with pytest.raises(OSError, match="disk"):
        next(ahead)
