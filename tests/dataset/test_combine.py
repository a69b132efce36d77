"""Several data sets as one, in the order of Hugging Face `datasets`."""

from __future__ import annotations

import pytest

import raydata_ext as rdx
from raydata_ext.errors import SchemaError


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
        (([1],), TypeError, "a data set or a stream is expected, got int"),
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
