"""Elements in lists, also from an iterator that was begun."""

from __future__ import annotations

import pytest

from raydata_ext.text.iterators import CountingIterator, GroupedIterator


@pytest.mark.parametrize("count", [0, 1, 4, 7, 8])
@pytest.mark.parametrize("begun", range(9))
@pytest.mark.parametrize("size", [1, 3, 4])
def test_no_element_is_lost_wherever_it_begins(count, begun, size):
    elements = CountingIterator(range(count)).skip(begun)
    groups = GroupedIterator(elements, size)
    start, length = groups.n, len(groups)
    found = list(groups)
    assert [element for group in found for element in group] == list(range(min(begun, count), count))
    assert all(len(group) == size for group in found[:-1])
    assert start + len(found) == length == groups.n
    assert not groups.has_next()


def test_begun_within_a_list_the_rest_fills_as_many_lists_as_it_takes():
    groups = GroupedIterator(CountingIterator(range(8)).skip(1), 4)
    assert (groups.offset, len(groups), list(groups)) == (1, 3, [[1, 2, 3, 4], [5, 6, 7]])


def test_plain_lists_can_be_grouped_and_a_short_last_list_left_out():
    assert list(GroupedIterator([1, 2, 3], 2)) == [[1, 2], [3]]
    whole = GroupedIterator([1, 2, 3], 2, skip_remainder_batch=True)
    assert (len(whole), list(whole)) == (1, [[1, 2]])


def test_the_iterator_below_counts_on():
    elements = CountingIterator(range(5))
    next(GroupedIterator(elements, 2))
    assert elements.n == 2


def test_lists_of_no_elements_are_refused():
    with pytest.raises(ValueError, match="chunk_size is 0"):
        GroupedIterator([1], 0)
