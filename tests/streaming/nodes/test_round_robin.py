"""One row of each group in turn."""

from __future__ import annotations

import pytest

from raydata_ext.streaming.nodes.round_robin import RoundRobin
from raydata_ext.streaming.rows import PIECE_ROWS


def in_turn(groups):
    """The order by its definition, row by row."""
    left, order = [list(group) for group in groups], []
    while any(left):
        order += [group.pop(0) for group in left if group]
    return order


@pytest.mark.parametrize("sizes", [(3,), (2, 5, 1), (0, 4, 0, 2), (0, 0)])
def test_groups_give_a_row_each_and_those_that_ended_are_passed_over(numbers, sizes, xs):
    assert xs(RoundRobin(tuple(numbers(size) for size in sizes))) == in_turn([range(size) for size in sizes])


def test_the_turn_goes_on_over_pieces_of_different_lengths(tables, xs):
    sizes = (2 * PIECE_ROWS + 3, PIECE_ROWS // 3, PIECE_ROWS + 1)
    found = xs(RoundRobin(tuple(tables(size) for size in sizes)))
    assert found[:9] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert sorted(found) == sorted(x for size in sizes for x in range(size))
    assert found[-5:] == list(range(sizes[0] - 5, sizes[0]))


def test_more_groups_than_rows_of_a_piece_are_read(tables, xs):
    assert xs(RoundRobin(tuple(tables(1) for _ in range(PIECE_ROWS + 2)))) == [0] * (PIECE_ROWS + 2)


def test_it_goes_on_at_every_row(numbers, goes_on_at_every_row):
    goes_on_at_every_row(lambda: RoundRobin((numbers(3), numbers(0), numbers(1), numbers(2, 3))))
