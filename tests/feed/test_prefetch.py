"""A thread works ahead by so many items and no more, and ends when it is told to."""

from __future__ import annotations

import threading

import pytest

from raydata_ext.feed.prefetch import Prefetcher


def test_items_come_in_order_and_no_more_are_made_than_may_wait(wait_until):
    made = []

    def items():
        for number in range(10):
            made.append(number)
            yield number

    ahead = Prefetcher(items(), 3)
    wait_until(lambda: ahead.waiting == 3, "three items")
    assert len(made) <= 4
    assert list(ahead) == list(range(10))


@pytest.mark.parametrize("depth", [1, 2, 16])
def test_reader_and_thread_never_wait_for_one_another_in_vain(depth):
    assert list(Prefetcher(iter(range(5000)), depth)) == list(range(5000))


def test_an_error_is_raised_in_its_place():
    def items():
        yield 1
        raise KeyError("lost")

    ahead = Prefetcher(items(), 2)
    assert next(ahead) == 1
    with pytest.raises(KeyError, match="lost"):
        next(ahead)


def test_closing_ends_a_thread_that_waits_for_room():
    before = threading.active_count()
    ahead = Prefetcher(iter(range(100)), 1)
    next(ahead)
    ahead.close()
    assert threading.active_count() == before
