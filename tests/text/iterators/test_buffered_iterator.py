"""Reading ahead in a thread."""

from __future__ import annotations

import gc
import threading

import pytest

from raydata_ext.text.iterators import BufferedIterator


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "BufferedIterator"]


@pytest.mark.parametrize("count", [0, 1, 100])
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_the_elements_are_those_of_the_iterable_in_their_order(count, size):
    buffered = BufferedIterator(size, range(count))
    assert len(buffered) == count
    assert list(buffered) == list(range(count))
    assert list(buffered) == []


def test_no_more_than_its_size_is_read_ahead(wait_until):
    read = []
    buffered = BufferedIterator(3, (read.append(number) or number for number in range(100)))
    assert read == []
    assert next(buffered) == 0
    wait_until(lambda: len(read) == 4, "three elements ahead")
    assert [next(buffered), next(buffered)] == [1, 2]
    wait_until(lambda: len(read) == 6, "three elements ahead")
    buffered.close()
    assert len(read) <= 7


def test_an_error_comes_where_its_element_would_have_come():
    def numbers():
        yield 1
        raise OSError("disk gone")

    buffered = BufferedIterator(5, numbers())
    assert next(buffered) == 1
    with pytest.raises(OSError, match="disk gone"):
        next(buffered)
    assert list(buffered) == []


def test_a_forgotten_iterator_ends_its_thread(wait_until):
    buffered = BufferedIterator(2, iter(range(1000)))
    next(buffered)
    assert threads()
    del buffered
    gc.collect()
    wait_until(lambda: not threads(), "the thread to end")


def test_a_closed_iterator_gives_nothing_more(wait_until):
    buffered = BufferedIterator(2, range(1000))
    next(buffered)
    buffered.close()
    assert list(buffered) == []
    wait_until(lambda: not threads(), "the thread to end")


def test_a_buffer_without_room_is_refused():
    with pytest.raises(ValueError, match="size is 0"):
        BufferedIterator(0, [])


def test_once_it_is_closed_nothing_reads_the_elements_any_more():
    readers = []

    def elements():
        while True:
            readers.append(threading.current_thread())
            yield sum(range(100_000))  # takes a while

    iterator = BufferedIterator(50, elements())
    next(iterator)
    iterator.close()
    assert not readers[0].is_alive()
    assert list(iterator) == []
