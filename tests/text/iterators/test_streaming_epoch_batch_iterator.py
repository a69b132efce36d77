"""Epochs of rows that come in a sequence."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.text.iterators import StreamingEpochBatchIterator


class Stream:
    """Rows of an epoch, with or without a length."""

    def __init__(self, count):
        self.count = count
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        return iter([(self.epoch, row) for row in range(self.count)])


class StreamWithLength(Stream):
    def __len__(self):
        return self.count


def streams(kind, count, shards=1, **arguments):
    return [
        StreamingEpochBatchIterator(kind(count), num_shards=shards, shard_id=shard, **arguments)
        for shard in range(shards)
    ]


@pytest.mark.parametrize("kind", [Stream, StreamWithLength])
@pytest.mark.parametrize("count", [0, 1, 7])
@pytest.mark.parametrize("buffer_size", [0, 2])
def test_elements_are_dealt_to_shards_in_turn_and_filled_up(kind, count, buffer_size):
    every = streams(kind, count, 3, buffer_size=buffer_size)
    for epoch in (1, 2):
        parts = [list(one.next_epoch_itr()) for one in every]
        assert {len(part) for part in parts} == {-(-count // 3)}
        dealt = [element for step in zip(*parts, strict=True) for element in step]
        assert dealt == [(epoch, row) for row in range(count)] + [None] * (-count % 3)
        assert all(one.end_of_epoch() for one in every)


@pytest.mark.parametrize("kind", [Stream, StreamWithLength])
@pytest.mark.parametrize("at", range(5))
@pytest.mark.parametrize("shards", [1, 2, 5])
def test_any_number_of_shards_goes_on_with_exactly_the_rest(kind, at, shards):
    seen = []
    every = streams(kind, 9, 2)
    running = [one.next_epoch_itr() for one in every]
    for _ in range(at):
        seen += [next(one) for one in running]
    states = [one.state_dict() for one in every]
    assert states == [{"epoch": 1, "position": 2 * at}] * 2
    later = streams(kind, 9, shards)
    for one in later:
        one.load_state_dict(states[0])
        assert one.state_dict() == states[0]
    parts = [list(one.next_epoch_itr()) for one in later]
    seen += [element for step in zip(*parts, strict=True) for element in step]
    assert [element for element in seen if element is not None] == [(1, row) for row in range(9)]
    assert next(later[0].next_epoch_itr()) == (2, 0)


@given(
    count=st.integers(0, 30),
    stages=st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(0, 4)), min_size=1, max_size=4),
    kind=st.sampled_from([Stream, StreamWithLength]),
    buffer_size=st.sampled_from([0, 2]),
)
@settings(max_examples=100, deadline=None)
def test_any_numbers_of_shards_and_elements_a_batch_in_turn_visit_each_element_once(count, stages, kind, buffer_size):
    """Each stage resumes the state of the one before with its own shards and batches, and does some steps."""
    seen, state = [], None
    for shards, max_sentences, steps in [*stages, (2, 1, 1000)]:
        every = streams(kind, count, shards, max_sentences=max_sentences, collate_fn=list, buffer_size=buffer_size)
        for one in every:
            if state is not None:
                one.load_state_dict(state)
        if every[0].epoch > 1:
            break
        running = [one.next_epoch_itr() for one in every]
        parts = [[next(one) for _ in range(steps) if one.has_next()] for one in running]
        seen += [element for step in zip(*parts, strict=True) for batch in step for element in batch]
        states = [one.state_dict() for one in every]
        assert all(other == states[0] for other in states)
        state = states[0]
    assert sorted(seen) == [(1, row) for row in range(count)]


def test_elements_are_collated_to_batches():
    every = streams(Stream, 7, 2, max_sentences=2, collate_fn=lambda elements: [row for _, row in elements])
    first, second = (list(one.next_epoch_itr()) for one in every)
    assert first == [[0, 2], [4, 6]]
    assert second == [[1, 3], [5]]
    assert every[0].state_dict() == {"epoch": 2, "position": 0}
    with_length = streams(StreamWithLength, 7, max_sentences=3, collate_fn=len)
    assert len(with_length[0].next_epoch_itr()) == 3


def test_a_state_of_fairseq_holds_the_epoch_alone():
    [one] = streams(Stream, 2)
    one.load_state_dict({"epoch": 4})
    assert list(one.next_epoch_itr()) == [(4, 0), (4, 1)]
    assert one.next_epoch_idx == 5


def test_it_tells_where_it_is():
    [one] = streams(Stream, 2)
    assert (one.epoch, one.iterations_in_epoch, one.end_of_epoch()) == (1, 0, False)
    epoch = one.next_epoch_itr()
    next(epoch)
    assert (one.iterations_in_epoch, one.end_of_epoch()) == (1, False)


@pytest.mark.parametrize(
    ("arguments", "message"), [({"shard_id": 1}, "shard_id must be"), ({"max_sentences": 0}, "max_sentences is 0")]
)
def test_arguments_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        StreamingEpochBatchIterator([1], **arguments)
