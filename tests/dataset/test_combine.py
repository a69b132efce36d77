"""Several data sets as one, in the order of Hugging Face `datasets`."""

from __future__ import annotations

import datasets
import pyarrow as pa
import pytest

import raydata_ext as rdx
from raydata_ext.errors import SchemaError


def both(lengths, cache):
    """Data sets of such lengths, ours and theirs; the second of ours is under an indices mapping."""
    columns = [{"n": [100 * number + row for row in range(length)]} for number, length in enumerate(lengths)]
    schema = pa.schema([("n", pa.int64())])
    ours = [rdx.Dataset.from_dict(one, schema=schema, cache_dir=cache) for one in columns]
    ours[1] = ours[1].select(range(lengths[1])[::-1]).select(range(lengths[1])[::-1])
    return ours, [datasets.Dataset.from_dict(one, features=datasets.Features(n=datasets.Value("int64"))) for one in columns]


STRATEGIES = ["first_exhausted", "all_exhausted", "all_exhausted_without_replacement"]


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


def test_rows_below_one_another_keep_their_order_and_mappings(dataset, rows):
    shuffled = dataset.select([5, 3])
    joined = rdx.concatenate_datasets([shuffled, dataset, dataset.select([])])
    assert list(joined) == [rows[5], rows[3], *rows]
    assert list(rdx.concatenate_datasets([dataset, dataset])) == rows * 2
    assert joined.cache_files == dataset.cache_files


def test_types_are_widened_and_missing_columns_are_null(tmp_path):
    first = rdx.Dataset.from_dict({"a": [1], "b": ["x"]}, cache_dir=tmp_path)
    second = rdx.Dataset.from_dict({"a": [0.5], "c": [True]}, cache_dir=tmp_path)
    assert list(rdx.concatenate_datasets([first, second])) == [
        {"a": 1.0, "b": "x", "c": None},
        {"a": 0.5, "b": None, "c": True},
    ]


def test_types_that_do_not_go_together_are_named(tmp_path):
    first = rdx.Dataset.from_dict({"a": [1]}, cache_dir=tmp_path)
    with pytest.raises(SchemaError, match="a"):
        rdx.concatenate_datasets([first, rdx.Dataset.from_dict({"a": ["x"]}, cache_dir=tmp_path)])


def test_columns_side_by_side(any_dataset, rows):
    other = any_dataset.map(lambda row: {"double": 2 * row["id"]}, remove_columns=any_dataset.column_names)
    joined = rdx.concatenate_datasets([any_dataset, other], axis=1)
    assert list(joined) == [{**row, "double": 2 * row["id"]} for row in rows]
    reversed_ = joined.select_columns(["double", "text"])
    assert reversed_.map(lambda row: {"n": row["double"]})[4] == {"double": 8, "text": "row 4", "n": 8}


def test_columns_of_one_selection_stay_under_its_mapping(dataset):
    shuffled = dataset.shuffle(seed=1)
    joined = rdx.concatenate_datasets([shuffled.select_columns("id"), shuffled.select_columns("text")], axis=1)
    assert joined.parts.indices is shuffled.parts.indices
    assert joined.to_list() == shuffled.select_columns(["id", "text"]).to_list()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([],), ValueError, "there are no data sets"),
        (([1],), TypeError, "one is a int"),
        ((["self", "self"], 1), ValueError, "two data sets have a column 'id'"),
        ((["self"], 2), ValueError, "axis is 2"),
    ],
)
def test_what_cannot_be_joined_is_refused(dataset, arguments, error, message):
    given = [dataset if one == "self" else one for one in arguments[0]]
    with pytest.raises(error, match=message):
        rdx.concatenate_datasets(given, *arguments[1:])


def test_different_numbers_of_rows_cannot_stand_side_by_side(dataset):
    with pytest.raises(ValueError, match="23 and 3 rows"):
        rdx.concatenate_datasets([dataset.select_columns("id"), dataset.take(3).select_columns("text")], axis=1)


def test_the_fingerprint_tells_how_data_sets_were_joined(dataset):
    left, right = dataset.select_columns("id"), dataset.select_columns("text")
    prints = {
        rdx.concatenate_datasets([left, left]).fingerprint,
        rdx.concatenate_datasets([left, right]).fingerprint,
        rdx.concatenate_datasets([right, left]).fingerprint,
        rdx.concatenate_datasets([left, right], axis=1).fingerprint,
    }
    assert len(prints) == 4
    assert rdx.concatenate_datasets([left, right]).fingerprint in prints


def test_a_common_format_stays(dataset):
    formatted = dataset.with_format("numpy")
    assert rdx.concatenate_datasets([formatted, formatted]).format["type"] == "numpy"
    assert rdx.concatenate_datasets([formatted, dataset]).format["type"] is None
