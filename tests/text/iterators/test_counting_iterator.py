"""An iterator that knows how many elements it gave."""

from __future__ import annotations

import pytest

from raydata_ext.text.iterators import CountingIterator


def test_it_counts_what_is_taken_and_knows_whether_there_is_more():
    numbers = CountingIterator([10, 11, 12])
    assert (numbers.n, len(numbers), numbers.has_next()) == (0, 3, True)
    assert (next(numbers), next(numbers)) == (10, 11)
    assert (numbers.n, numbers.count, numbers.has_next()) == (2, 2, True)
    assert list(numbers) == [12]
    assert (numbers.n, numbers.has_next()) == (3, False)
    assert list(numbers) == []


def test_iterating_goes_on_where_it_is():
    numbers = CountingIterator(range(5))
    next(numbers)
    assert list(iter(numbers)) == [1, 2, 3, 4]


def test_skip_passes_over_elements_and_stops_at_the_end():
    numbers = CountingIterator(range(5)).skip(2)
    assert (numbers.n, next(numbers)) == (2, 2)
    assert numbers.skip(10).n == 5
    assert not numbers.has_next()


def test_take_ends_at_a_count_and_never_prolongs():
    numbers = CountingIterator(range(5), start=2).take(4)
    assert len(numbers) == 4
    assert list(numbers) == [0, 1]
    assert len(CountingIterator(range(5)).take(9)) == 5


def test_the_count_may_begin_anywhere_and_goes_on_from_an_iterator_that_counts():
    numbers = CountingIterator([5, 6], start=3)
    assert (numbers.n, len(numbers)) == (3, 5)
    next(numbers)
    outer = CountingIterator(numbers)
    assert (outer.n, len(outer), list(outer)) == (4, 5, [6])


def test_fewer_elements_than_were_told_is_an_error_that_says_where():
    with pytest.raises(IndexError, match="expected to have length 4, but exhausted at position 2"):
        list(CountingIterator(range(2), total=4))


def test_without_a_length_it_reads_one_ahead_to_know_whether_there_is_more():
    numbers = CountingIterator(iter([1, 2]))
    assert numbers.has_next()
    assert numbers.n == 0
    assert next(numbers) == 1
    assert numbers.has_next()
    assert list(numbers) == [2]
    assert not numbers.has_next()
    with pytest.raises(TypeError, match="its length is not known"):
        len(numbers)
    assert list(CountingIterator(iter(range(9))).take(3)) == [0, 1, 2]


@pytest.mark.parametrize("elements", [[], iter(())])
def test_nothing_to_count_has_no_next(elements):
    numbers = CountingIterator(elements)
    assert not numbers.has_next()
    assert list(numbers) == []
