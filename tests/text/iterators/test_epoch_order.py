"""The order of an epoch's batches, as a pure function."""

from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.iterators.epoch_order import EpochOrder, share


@pytest.mark.parametrize("count", [0, 1, 2, 100])
def test_the_order_is_the_permutation_of_seed_plus_epoch(count):
    expected = list(range(count))
    np.random.RandomState(7 + 3).shuffle(expected)
    assert EpochOrder(7, 3).places(count).tolist() == expected
    assert EpochOrder(7, 3, shuffle=False).places(count).tolist() == list(range(count))


def test_the_order_leaves_the_global_random_state_alone():
    np.random.seed(5)  # noqa: NPY002 - this is what must not change
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    EpochOrder(1, 1).places(50)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


@pytest.mark.parametrize("count", [0, 1, 7, 12])
def test_batches_that_are_fixed_to_shards_stay_with_them_and_are_shuffled_within(count):
    for epoch in (1, 2):
        places = EpochOrder(5, epoch, fixed_shards=3).places(count)
        for shard in range(3):
            mine = [number if number < count else -1 for number in range(shard, -(-count // 3) * 3, 3)]
            np.random.RandomState(5 + epoch + shard).shuffle(mine)
            assert places[shard::3].tolist() == mine


def test_groups_are_shuffled_as_a_whole_and_the_rest_comes_last():
    places = EpochOrder(1, 1, group=3).places(11).tolist()
    assert places[9:] == [9, 10]
    assert sorted(places[:9:3]) == [0, 3, 6]
    assert all(places[at : at + 3] == list(range(places[at], places[at] + 3)) for at in (0, 3, 6))


@pytest.mark.parametrize(("drop_last", "expected"), [(False, [[4, 7], [5, 8], [6, -1]]), (True, [[4], [5], [6]])])
def test_each_shard_takes_its_share_of_what_is_left(drop_last, expected):
    left = np.arange(4, 9)
    assert [share(left, 3, shard, drop_last=drop_last).tolist() for shard in range(3)] == expected
