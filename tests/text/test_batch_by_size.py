"""Batches within a number of tokens and sentences, against the rule spelled out as a loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.text.batch_by_size import BLOCK_ROWS, SMALL_BATCH, batch_by_size


def lists(batches):
    return [batch.tolist() for batch in batches]


def by_the_rule(sizes, max_tokens, max_sentences, multiple):
    """The largest count within the limits, rounded down to the multiple where it is more."""
    ends, start = [0], 0
    while start < len(sizes):
        count, longest = 1, sizes[start]
        while start + count < len(sizes):
            longest = max(longest, sizes[start + count])
            if max_tokens is not None and longest * (count + 1) > max_tokens:
                break
            if max_sentences is not None and count + 1 > max_sentences:
                break
            count += 1
        start += count - count % multiple if count > multiple else count
        ends.append(start)
    return ends


@given(
    sizes=st.lists(st.integers(0, 60), max_size=250),
    tokens=st.one_of(st.none(), st.integers(60, 4000)),
    sentences=st.one_of(st.none(), st.integers(1, 150)),
    multiple=st.sampled_from([1, 2, 3, 8, 100, 1000]),
    dtype=st.sampled_from([np.uint8, np.int32, np.int64]),
)
@settings(max_examples=200, deadline=None)
def test_batches_follow_the_rule_hold_every_row_once_and_keep_within_limits(sizes, tokens, sentences, multiple, dtype):
    rows = np.arange(100, 100 + len(sizes))
    batches = batch_by_size(
        rows,
        num_tokens_vec=np.array(sizes, dtype),
        max_tokens=tokens,
        max_sentences=sentences,
        required_batch_size_multiple=multiple,
    )
    assert batches.boundaries.tolist() == by_the_rule(sizes, tokens, sentences, multiple)
    assert np.concatenate([rows[:0], *batches]).tolist() == rows.tolist()
    for batch in batches:
        assert 0 < len(batch) <= (sentences or len(sizes))
        assert len(batch) * max(sizes[row - 100] for row in batch) <= (tokens or 10**9)


@pytest.mark.parametrize("long_run", [SMALL_BATCH - 1, SMALL_BATCH, SMALL_BATCH + 1, BLOCK_ROWS + 5])
def test_batches_around_the_sizes_at_which_the_search_changes_follow_the_rule(long_run):
    sizes = [1] * long_run + [7, 3, 3] * 40 + [1] * long_run
    batches = batch_by_size(np.arange(len(sizes)), num_tokens_vec=sizes, max_tokens=long_run + 1)
    assert batches.boundaries.tolist()[:2] == [0, by_the_rule(sizes[: long_run + 2], long_run + 1, None, 1)[1]]
    assert lists(batches)[-1][-1] == len(sizes) - 1
    small = batch_by_size(np.arange(len(sizes)), num_tokens_vec=sizes, max_tokens=21)
    assert small.boundaries.tolist() == by_the_rule(sizes, 21, None, 1)


def test_rows_that_are_carried_over_never_lift_a_batch_above_the_limit():
    batches = batch_by_size(range(4), num_tokens_vec=[2, 2, 2, 4], max_tokens=6, required_batch_size_multiple=2)
    assert lists(batches) == [[0, 1], [2], [3]]


def test_the_last_rows_are_not_dropped_where_they_are_no_multiple():
    batches = batch_by_size(range(13), num_tokens_vec=[1] * 13, max_sentences=16, required_batch_size_multiple=8)
    assert lists(batches) == [list(range(8)), list(range(8, 13))]


def test_rows_without_tokens_cost_nothing():
    assert lists(batch_by_size(range(5), num_tokens_vec=[0, 0, 0, 9, 0], max_tokens=9)) == [[0, 1, 2], [3], [4]]


@pytest.mark.parametrize("unlimited", [None, -1])
def test_without_limits_all_rows_are_one_batch(unlimited):
    batches = batch_by_size(range(70_000), max_tokens=unlimited, max_sentences=unlimited)
    assert batches.sizes.tolist() == [70_000]


def test_consecutive_chunks_need_no_sizes():
    assert lists(batch_by_size([5, 3, 1, 0, 2], max_sentences=2)) == [[5, 3], [1, 0], [2]]


@pytest.mark.parametrize("indices", [[], np.empty(0, np.int64), iter(())])
def test_no_rows_are_no_batches(indices):
    assert lists(batch_by_size(indices, num_tokens_vec=[], max_tokens=10)) == []


def test_the_order_and_dtype_of_indices_stay_and_sizes_may_come_from_a_function():
    order = np.array([3, 1, 2], np.uint32)
    batches = batch_by_size(order, num_tokens_fn=lambda row: row, max_tokens=4)
    assert lists(batches) == [[3], [1, 2]]
    assert batches.indices is order


def test_a_row_over_the_limit_is_named_with_its_size_and_the_limit():
    sizes = np.full(2 * BLOCK_ROWS, 3)
    sizes[BLOCK_ROWS + 7] = 11
    with pytest.raises(
        ValueError, match=f"sentence at index {BLOCK_ROWS + 107} of size 11 exceeds max_tokens limit of 10!"
    ):
        batch_by_size(np.arange(100, 100 + len(sizes)), num_tokens_vec=sizes, max_tokens=10)


def test_fixed_shapes_say_how_many_rows_a_batch_may_have():
    sizes = [2, 2, 2, 2, 2, 5, 5, 5, 9]
    batches = batch_by_size(range(9), num_tokens_vec=sizes, fixed_shapes=[(4, 2), (2, 6), (1, 10)])
    assert lists(batches) == [[0, 1, 2, 3], [4, 5], [6, 7], [8]]
    by_tokens = batch_by_size(range(9), num_tokens_vec=sizes, max_tokens=12, fixed_shapes=[(None, 2), (None, 10)])
    assert lists(by_tokens) == [[0, 1, 2, 3, 4], [5], [6], [7], [8]]
    with pytest.raises(ValueError, match="index 8 of size 9 exceeds longest fixed shape of 6 tokens"):
        batch_by_size(range(9), num_tokens_vec=sizes, fixed_shapes=[(4, 2), (2, 6)])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_tokens": 10}, "num_tokens_vec or num_tokens_fn"),
        ({"max_tokens": 0, "num_tokens_vec": [1, 1]}, "max_tokens is 0"),
        ({"max_sentences": -2}, "max_sentences is -2"),
        ({"required_batch_size_multiple": 0}, "required_batch_size_multiple is 0"),
        ({"max_tokens": 10, "num_tokens_vec": [1]}, "1 sizes for 2 indices"),
        ({"max_tokens": 10, "num_tokens_vec": [1.5, 1]}, "must be integers"),
        ({"fixed_shapes": [(None, 5)], "num_tokens_vec": [1, 1]}, "needs max_tokens"),
        ({"fixed_shapes": [(None, 50)], "num_tokens_vec": [1, 1], "max_tokens": 10}, "holds no row"),
        ({"fixed_shapes": [], "num_tokens_vec": [1, 1]}, "fixed_shapes is empty"),
    ],
)
def test_arguments_that_do_not_go_together_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        batch_by_size([0, 1], **arguments)


def test_a_limit_past_32_bits_is_no_limit():
    assert lists(batch_by_size([4, 5, 6], max_sentences=2**40)) == [[4, 5, 6]]
    assert lists(batch_by_size([4, 5, 6], num_tokens_vec=[1, 2, 3], max_tokens=2**40)) == [[4, 5, 6]]
