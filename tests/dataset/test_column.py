"""A column as a sequence that reads what is looked at."""

from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.dataset import Dataset


def test_a_column_reads_like_a_list(any_dataset, rows):
    column = any_dataset["text"]
    values = [row["text"] for row in rows]
    assert (len(column), list(column), column[0], column[-1]) == (23, values, values[0], values[-1])
    assert column[2:5] == values[2:5]
    assert column[::-2] == values[::-2]
    assert column[5:2] == []
    assert column[[3, -1]] == column[np.array([3, -1])] == [values[3], values[-1]]
    assert column[:] == values
    assert values[4] in column
    assert column.index(values[4]) == 4


def test_a_column_is_equal_to_a_sequence_of_equal_values(dataset):
    assert dataset["id"] == list(range(23))
    assert list(range(23)) == dataset["id"]
    assert dataset["id"] == dataset["id"]
    assert dataset["id"] != list(range(22))
    assert dataset["text"] != "row 0"


def test_a_column_shows_its_first_values(dataset):
    assert repr(dataset["id"]) == "Column('id', 23 values: [0, 1, 2, 3, 4, ...])"
    assert repr(dataset.take(2)["id"]) == "Column('id', 2 values: [0, 1])"


@pytest.mark.parametrize("key", [23, -24, [23]])
def test_a_value_that_is_not_there_is_an_index_error(dataset, key):
    with pytest.raises(IndexError, match="out of range for 23 rows"):
        dataset["id"][key]


def test_the_fields_of_structs_are_columns_too():
    dataset = Dataset.from_dict({"s": [{"a": 1, "b": [1]}, None, {"a": 3, "b": None}], "n": [1, 2, 3]})
    assert dataset["s"]["a"] == [1, None, 3]
    assert dataset.select([2, 0])["s"]["b"] == [None, [1]]
    for column, key in (("s", "c"), ("n", "a")):
        with pytest.raises(KeyError, match=f"has no field '{key}'"):
            dataset[column][key]
