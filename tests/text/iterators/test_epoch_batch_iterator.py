"""Batches epoch after epoch: their order, their shards, and going on from any place with any number of shards."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.errors import StateError
from raydata_ext.text.batches import Batches
from raydata_ext.text.iterators import EpochBatchIterator, GroupedIterator


class Rows:
    """Rows that tell their number and the epoch that they were read in."""

    supports_prefetch = False

    def __init__(self, count=1000):
        self.count = count
        self.epoch = 0
        self.prefetched = []

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return index, self.epoch

    def set_epoch(self, epoch):
        self.epoch = epoch

    def prefetch(self, indices):
        self.prefetched.append((self.epoch, sorted(indices)))


def rows_of(samples):
    return [row for row, _ in samples]


def epochs_and_process_of(samples):
    return {epoch for _, epoch in samples}, os.getpid()


def batches_of(count):
    """Batch k holds rows 2k and 2k + 1."""
    return Batches(np.arange(2 * count), np.arange(0, 2 * count + 1, 2))


def iterator(count=12, dataset=None, collate=rows_of, **arguments):
    return EpochBatchIterator(dataset or Rows(), collate, batches_of(count), **arguments)


def numbers(batches):
    """The numbers of batches, without empty ones."""
    return [batch[0] // 2 for batch in batches if batch]


def order(count, seed, epoch):
    return np.random.RandomState(seed + epoch).permutation(count).tolist()


# -- order -------------------------------------------------------------------------------------------------------------


def test_the_order_of_each_epoch_is_the_permutation_of_seed_plus_epoch():
    batches = iterator(seed=3)
    for epoch in (1, 2, 3):
        assert numbers(batches.next_epoch_itr()) == order(12, 3, epoch)
        assert batches.epoch == epoch
    assert numbers(batches.next_epoch_itr(shuffle=False)) == list(range(12))


@pytest.mark.parametrize("count", [0, 1, 11, 12])
@pytest.mark.parametrize("shards", [1, 3, 5])
def test_shards_take_turns_and_have_equally_many_steps(count, shards):
    every = [iterator(count, num_shards=shards, shard_id=shard) for shard in range(shards)]
    parts = [list(one.next_epoch_itr()) for one in every]
    assert {len(part) for part in parts} == {-(-count // shards)} == {len(one) for one in every}
    assert numbers(batch for step in zip(*parts, strict=True) for batch in step) == order(count, 1, 1)


def test_a_last_step_that_not_all_shards_have_can_be_left_out():
    one = iterator(11, num_shards=3, shard_id=0, skip_remainder_batch=True)
    assert len(one) == 3
    assert numbers(one.next_epoch_itr()) == order(11, 1, 1)[:9:3]


def test_grouped_shuffling_keeps_neighbours_in_one_step():
    parts = [list(iterator(num_shards=3, shard_id=s, grouped_shuffling=True).next_epoch_itr()) for s in range(3)]
    for step in zip(*map(numbers, parts), strict=True):
        assert list(step) == list(range(step[0], step[0] + 3))


def test_shuffling_can_be_disabled():
    assert numbers(iterator(disable_shuffling=True).next_epoch_itr()) == list(range(12))


def test_batches_fixed_to_shards_stay_there_where_the_dataset_prefetches():
    dataset = Rows()
    dataset.supports_prefetch = True
    one = iterator(dataset=dataset, num_shards=3, shard_id=1)
    for epoch in (1, 2):
        expected = [1, 4, 7, 10]
        np.random.RandomState(1 + epoch + 1).shuffle(expected)
        assert numbers(one.next_epoch_itr(fix_batches_to_gpus=True)) == expected
        assert dataset.prefetched[-1] == (epoch, [2, 3, 8, 9, 14, 15, 20, 21])
    assert numbers(iterator(num_shards=3, shard_id=1).next_epoch_itr(fix_batches_to_gpus=True)) == order(12, 1, 1)[1::3]


def test_batches_may_be_lists_or_made_anew_for_each_epoch():
    listed = EpochBatchIterator(Rows(), rows_of, [[0, 1], [5]])
    assert sorted(listed.next_epoch_itr()) == [[0, 1], [5]]
    made = EpochBatchIterator(Rows(), rows_of, lambda dataset, epoch: [[epoch, dataset.epoch]])
    assert list(made.next_epoch_itr()) == [[1, 1]]
    assert list(made.next_epoch_itr()) == [[2, 2]]


# -- where it is -------------------------------------------------------------------------------------------------------


def test_it_tells_where_it_is():
    batches = iterator(3)
    assert (batches.epoch, batches.next_epoch_idx, batches.iterations_in_epoch, batches.end_of_epoch()) == (
        1,
        1,
        0,
        False,
    )
    epoch = batches.next_epoch_itr()
    next(epoch)
    assert (batches.iterations_in_epoch, epoch.n, len(epoch), batches.end_of_epoch()) == (1, 1, 3, False)
    list(epoch)
    assert (batches.iterations_in_epoch, batches.end_of_epoch(), batches.next_epoch_idx) == (3, True, 2)
    assert batches.first_batch == [0, 1]


def test_an_epoch_that_was_not_finished_begins_anew():
    batches = iterator()
    next(batches.next_epoch_itr())
    assert numbers(batches.next_epoch_itr()) == order(12, 1, 1)


def test_an_empty_dataset_has_no_first_batch():
    with pytest.raises(IndexError, match="no first batch"):
        _ = iterator(0).first_batch


def test_a_shard_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="shard_id must be between 0 and num_shards"):
        iterator(num_shards=2, shard_id=2)


# -- going on ----------------------------------------------------------------------------------------------------------


@given(
    count=st.integers(0, 25),
    first=st.tuples(st.integers(1, 5), st.integers(1, 6)),
    others=st.lists(st.tuples(st.integers(1, 5), st.integers(0, 6)), max_size=3),
    fixed=st.booleans(),
    grouped=st.booleans(),
    shuffle=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_any_numbers_of_shards_in_turn_visit_each_batch_once_in_the_one_order(
    count, first, others, fixed, grouped, shuffle
):
    """Each stage resumes the state of the one before with its own number of shards, and does some steps."""

    def start(shards, shard, state):
        dataset = Rows()
        dataset.supports_prefetch = fixed
        one = iterator(count, dataset, num_shards=shards, shard_id=shard, grouped_shuffling=grouped, seed=9)
        if state is not None:
            one.load_state_dict(json.loads(json.dumps(state)))
        return one

    whole = first[0]
    expected = [
        list(start(whole, shard, None).next_epoch_itr(shuffle=shuffle, fix_batches_to_gpus=fixed))
        for shard in range(whole)
    ]
    expected = numbers(batch for step in zip(*expected, strict=True) for batch in step)
    assert sorted(expected) == list(range(count))

    seen, state = [], None
    for shards, steps in [first, *others, (2, 1000)]:
        every = [start(shards, shard, state) for shard in range(shards)]
        if every[0].epoch > 1:
            break
        assert state is None or every[0].state_dict() == state | {"iterations_in_epoch": every[0].iterations_in_epoch}
        running = [one.next_epoch_itr(shuffle=shuffle, fix_batches_to_gpus=fixed) for one in every]
        parts = [[next(one) for _ in range(steps) if one.has_next()] for one in running]
        seen += [batch for step in zip(*parts, strict=True) for batch in step]
        states = [one.state_dict() for one in every]
        assert all(other == states[0] for other in states)
        state = states[0]
    assert numbers(seen) == expected
    if count:
        assert (state["epoch"], state["position"]) == (2, 0)


@pytest.mark.parametrize("at", range(13))
def test_resumed_at_every_step_the_rest_of_this_and_the_next_epoch_are_the_same(at):
    batches = iterator(seed=4)
    epoch = batches.next_epoch_itr()
    for _ in range(at):
        next(epoch)
    state = batches.state_dict()
    later = iterator(seed=4)
    later.load_state_dict(state)
    assert later.iterations_in_epoch == at % 12
    if at < 12:
        rest = later.next_epoch_itr(shuffle=at == 0)  # within an epoch the state says whether it is shuffled
        assert (rest.n, len(rest)) == (at, 12)
        assert numbers(rest) == order(12, 4, 1)[at:]
    assert numbers(later.next_epoch_itr()) == order(12, 4, 2)
    assert later.epoch == 2


def test_more_shards_go_on_with_what_fewer_left():
    """With a position for each shard, four shards would skip six batches here."""
    running = [iterator(num_shards=2, shard_id=shard) for shard in range(2)]
    for one in running:
        epoch = one.next_epoch_itr()
        for _ in range(3):
            next(epoch)
    state = running[0].state_dict()
    assert (state["position"], state["iterations_in_epoch"]) == (6, 3)
    left = []
    for shard in range(4):
        one = iterator(num_shards=4, shard_id=shard)
        one.load_state_dict(state)
        left += numbers(one.next_epoch_itr())
    assert sorted(left) == sorted(order(12, 1, 1)[6:])


def test_a_state_that_was_saved_through_groups_loses_nothing():
    batches = iterator(8)
    groups = GroupedIterator(batches.next_epoch_itr(), 3)
    seen = list(next(groups))
    later = iterator(8)
    later.load_state_dict(batches.state_dict())
    for group in GroupedIterator(later.next_epoch_itr(), 4):
        seen += group
    assert numbers(seen) == order(8, 1, 1)


def test_a_state_of_the_first_version_of_fairseq_is_taken():
    batches = iterator(num_shards=2, shard_id=1)
    batches.load_state_dict({"epoch": 3, "iterations_in_epoch": 2, "shuffle": True})
    assert numbers(batches.next_epoch_itr()) == order(12, 1, 3)[4:][1::2]
    batches.load_state_dict({"epoch": 3, "iterations_in_epoch": 2, "shuffle": False})
    assert numbers(batches.next_epoch_itr()) == list(range(12))[4:][1::2]
    batches.load_state_dict({"epoch": 3, "iterations_in_epoch": 6, "shuffle": True})
    assert batches.next_epoch_idx == 4
    assert numbers(batches.next_epoch_itr()) == order(12, 1, 4)[1::2]
    batches.load_state_dict({"epoch": 0})
    assert batches.next_epoch_idx == 1


def test_a_state_of_the_second_version_of_fairseq_is_taken():
    batches = iterator(num_shards=3, shard_id=0)
    batches.load_state_dict({"version": 2, "epoch": 2, "iterations_in_epoch": 1, "shuffle": True})
    assert numbers(batches.next_epoch_itr()) == order(12, 1, 2)[3:][0::3]
    batches.load_state_dict({"version": 2, "epoch": 5, "iterations_in_epoch": 0, "shuffle": True})
    assert numbers(batches.next_epoch_itr()) == order(12, 1, 5)[0::3]
    with pytest.raises(StateError, match="at batch 12 of an epoch that has 12"):
        batches.load_state_dict({"version": 2, "epoch": 2, "iterations_in_epoch": 4, "shuffle": True})


@pytest.mark.parametrize(
    ("other", "message"),
    [({"count": 13}, "num_batches=12, here it is 13"), ({"seed": 2}, "seed=1, here it is 2")],
)
def test_a_state_that_does_not_fit_is_refused(other, message):
    batches = iterator()
    next(batches.next_epoch_itr())
    with pytest.raises(StateError, match=message):
        iterator(**other).load_state_dict(batches.state_dict())


def test_a_state_of_a_later_release_is_refused():
    with pytest.raises(StateError, match="version 9"):
        iterator().load_state_dict({"version": 9, "epoch": 1})


def test_saving_a_state_changes_nothing():
    batches = iterator()
    epoch = batches.next_epoch_itr()
    seen = []
    while epoch.has_next():
        batches.state_dict()
        seen.append(next(epoch))
    assert numbers(seen) == order(12, 1, 1)


def test_batches_that_are_made_for_each_epoch_can_be_resumed_within_one():
    def sampler(dataset, epoch):
        return [[100 * epoch + dataset.epoch, row] for row in range(5)]

    first = EpochBatchIterator(Rows(), rows_of, sampler)
    list(first.next_epoch_itr())
    epoch = first.next_epoch_itr()
    seen = [next(epoch), next(epoch)]
    later = EpochBatchIterator(Rows(), rows_of, sampler)
    later.load_state_dict(first.state_dict())
    seen += list(later.next_epoch_itr())
    assert sorted(seen) == [[202, row] for row in range(5)]


# -- workers -----------------------------------------------------------------------------------------------------------


def test_a_thread_can_read_ahead_without_changing_anything():
    batches = iterator(buffer_size=3)
    assert numbers(batches.next_epoch_itr()) == order(12, 1, 1)
    epoch = batches.next_epoch_itr()
    next(epoch)
    assert batches.state_dict()["position"] == 1


@pytest.mark.parametrize("options", [{}, {"reuse_dataloader": True}, {"persistent_workers": True}])
def test_workers_give_the_same_batches_and_see_each_epoch(options):
    pytest.importorskip("torch")
    batches = iterator(dataset=Rows(), collate=epochs_and_process_of, num_workers=1, **options)
    processes = []
    for epoch in (1, 2, 3):
        found = list(batches.next_epoch_itr())
        assert [epochs for epochs, _ in found] == [{epoch}] * 12
        processes.append({process for _, process in found})
    assert os.getpid() not in processes[0]
    assert (processes[0] == processes[2]) == ("persistent_workers" in options)
    assert batches.state_dict()["epoch"] == 4


def test_workers_keep_the_order_and_can_be_resumed():
    pytest.importorskip("torch")
    batches = iterator(num_workers=2, persistent_workers=True)
    epoch = batches.next_epoch_itr()
    seen = [next(epoch) for _ in range(5)]
    later = iterator(num_workers=1)
    later.load_state_dict(batches.state_dict())
    assert numbers(seen + list(later.next_epoch_itr())) == order(12, 1, 1)


def test_the_rest_of_a_shuffled_epoch_stays_shuffled_though_later_ones_are_not():
    before = iterator()
    epoch = before.next_epoch_itr()
    done = numbers([next(epoch) for _ in range(5)])
    resumed = iterator(disable_shuffling=True)
    resumed.load_state_dict(before.state_dict())
    assert sorted(done + numbers(resumed.next_epoch_itr())) == list(range(12))
    assert numbers(resumed.next_epoch_itr()) == list(range(12))
