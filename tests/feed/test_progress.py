"""The books of a coordinator: who takes part, and what all have received."""

from __future__ import annotations

import pytest

from raydata_ext.errors import StaleFeedError
from raydata_ext.feed.feed_state import Position
from raydata_ext.feed.progress import Progress


def test_the_common_position_is_that_of_the_slowest_rank_and_waits_for_ranks_that_are_missing():
    books = Progress(Position(2, 5))
    first, _ = books.join("a", 0, 2, 0.0)
    assert books.report(first, 2, 9, {}, 1.0) is False
    assert books.common == (2, 5)
    second, record = books.join("b", 1, 2, 2.0)
    assert (record.epoch, record.step) == (2, 5)
    assert books.report(second, 2, 7, {}, 3.0) is True
    assert books.common == (2, 7)
    books.report(second, 3, 0, {}, 4.0)
    assert books.common == (2, 9)


def test_joining_again_with_one_token_changes_nothing():
    books = Progress(Position())
    member, _ = books.join("a", 0, 1, 0.0)
    books.report(member, 0, 4, {}, 1.0)
    again, record = books.join("a", 0, 1, 2.0)
    assert again == member
    assert record.step == 4


def test_another_world_size_begins_anew_at_the_common_position():
    books = Progress(Position())
    members = [books.join(str(rank), rank, 2, 0.0)[0] for rank in range(2)]
    for member, step in zip(members, (6, 4), strict=True):
        books.report(member, 0, step, {}, 1.0)
    member, record = books.join("c", 2, 3, 2.0)
    assert (member.generation, record.step, books.common) == (1, 4, (0, 4))
    with pytest.raises(StaleFeedError, match="rank 1 of 2 is of generation 0; the feed is at generation 1"):
        books.report(members[1], 0, 5, {}, 3.0)
