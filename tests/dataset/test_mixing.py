"""Mixtures of data sets, row by row, in the order of Hugging Face `datasets`."""

from __future__ import annotations

import datasets
import pyarrow as pa
import pytest

import raydata_ext as rdx

STRATEGIES = ["first_exhausted", "all_exhausted", "all_exhausted_without_replacement"]


def both(lengths, cache):
    """Data sets of such lengths, ours and theirs; the second of ours is under an indices mapping."""
    columns = [{"n": [100 * number + row for row in range(length)]} for number, length in enumerate(lengths)]
    schema = pa.schema([("n", pa.int64())])
    ours = [rdx.Dataset.from_dict(one, schema=schema, cache_dir=cache) for one in columns]
    ours[1] = ours[1].select(range(lengths[1])[::-1]).select(range(lengths[1])[::-1])
    return ours, [
        datasets.Dataset.from_dict(one, features=datasets.Features(n=datasets.Value("int64"))) for one in columns
    ]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("probabilities", [None, [0.2, 0.5, 0.3], [0.9, 0.05, 0.05]])
@pytest.mark.parametrize("lengths", [(3, 4, 2), (50, 1, 7), (5, 5, 5)])
def test_mixtures_are_those_of_hugging_face(tmp_path, lengths, probabilities, strategy):
    ours, theirs = both(lengths, tmp_path)
    mixed = rdx.interleave_datasets(ours, probabilities, seed=7, stopping_strategy=strategy)
    expected = datasets.interleave_datasets(theirs, probabilities, seed=7, stopping_strategy=strategy)
    assert list(mixed["n"]) == list(expected["n"])


def test_a_long_mixture_draws_as_hugging_face_does_beyond_its_first_block(tmp_path):
    ours, theirs = both((3000, 100), tmp_path)
    for strategy in STRATEGIES:
        mixed = rdx.interleave_datasets(ours, [0.7, 0.3], seed=1, stopping_strategy=strategy)
        expected = datasets.interleave_datasets(theirs, [0.7, 0.3], seed=1, stopping_strategy=strategy)
        assert list(mixed["n"]) == list(expected["n"]), strategy


@pytest.mark.parametrize(
    ("lengths", "probabilities", "strategy", "message"),
    [
        ((3, 0), None, "all_exhausted", "data set 1 has no rows"),
        ((3, 0), [0.5, 0.5], "first_exhausted", "data set 1 has no rows"),
        ((3, 2), [1.0, 0.0], "all_exhausted", "data set 1 is never drawn"),
        ((3, 2), [1.0, 0.0], "all_exhausted_without_replacement", "data set 1 is never drawn"),
        ((3, 2), [0.5], "first_exhausted", "1 probabilities for 2 data sets"),
        ((3, 2), [0.5, 0.6], "first_exhausted", "must add up to 1"),
        ((3, 2), [1.5, -0.5], "first_exhausted", "must not be negative"),
        ((3, 2), None, "some_exhausted", "stopping_strategy is 'some_exhausted'"),
    ],
)
def test_mixtures_that_would_not_end_are_refused(tmp_path, lengths, probabilities, strategy, message):
    with pytest.raises(ValueError, match=message):
        rdx.interleave_datasets(both(lengths, tmp_path)[0], probabilities, stopping_strategy=strategy)


def test_empty_data_sets_are_mixed_where_that_means_something(tmp_path):
    ours, _ = both((3, 0), tmp_path)
    assert len(rdx.interleave_datasets(ours)) == 0
    assert rdx.interleave_datasets(ours, stopping_strategy="all_exhausted_without_replacement")["n"] == [0, 1, 2]
    chosen = rdx.interleave_datasets(ours, [0.5, 0.5], seed=0, stopping_strategy="all_exhausted_without_replacement")
    assert chosen["n"] == [0, 1, 2]
