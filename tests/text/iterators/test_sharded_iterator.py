"""Every n-th element, equally many for each shard."""

from __future__ import annotations

import pytest

from raydata_ext.text.iterators import CountingIterator, ShardedIterator


@pytest.mark.parametrize("count", [0, 1, 5, 6, 7])
@pytest.mark.parametrize("shards", [1, 2, 3, 8])
@pytest.mark.parametrize("make", [list, iter])
def test_shards_have_equally_many_elements_and_together_all_of_them(count, shards, make):
    parts = [list(ShardedIterator(make(list(range(count))), shards, shard, fill_value=-1)) for shard in range(shards)]
    assert {len(part) for part in parts} == {-(-count // shards)}
    dealt = [element for step in zip(*parts, strict=True) for element in step]
    assert dealt == list(range(count)) + [-1] * (len(dealt) - count)
    assert len(dealt) - count < shards


def test_lengths_and_counts_are_those_of_the_shard():
    shard = ShardedIterator(range(7), 3, 1)
    assert len(shard) == 3
    assert [next(shard), shard.n, shard.has_next()] == [1, 1, True]
    assert list(shard) == [4, None]


def test_the_remainder_can_be_left_out():
    shard = ShardedIterator(range(7), 3, 0, skip_remainder_batch=True)
    assert len(shard) == 2
    assert list(shard) == [0, 3]


def test_over_an_iterator_that_was_begun_it_goes_on():
    begun = CountingIterator(range(10)).skip(4)
    shard = ShardedIterator(begun, 2, 1)
    assert (shard.n, len(shard), list(shard)) == (2, 5, [5, 7, 9])


@pytest.mark.parametrize("shard", [-1, 2])
def test_a_shard_that_there_is_not_is_refused(shard):
    with pytest.raises(ValueError, match="shard_id must be between 0 and num_shards"):
        ShardedIterator(range(4), 2, shard)
