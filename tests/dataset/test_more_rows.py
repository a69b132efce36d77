from __future__ import annotations

import datasets
import pytest

from raydata_ext.dataset import Dataset
from raydata_ext.errors import SchemaError


@pytest.mark.parametrize("times", [0, 1, 3])
def test_rows_come_again_as_in_hugging_face(any_dataset, rows, times):
    repeated = any_dataset.repeat(times)
    assert repeated.to_list() == list(datasets.Dataset.from_list(rows).repeat(times)) == rows * times
    assert repeated.shuffle(seed=1)["id"] == any_dataset.select(list(range(23)) * times).shuffle(seed=1)["id"]


def test_repeating_writes_nothing(dataset, tmp_path):
    repeated = dataset.repeat(1000)
    assert len(repeated) == 23_000
    assert repeated[22_999] == dataset[22]
    assert not list((tmp_path / "cache").rglob("*.arrow"))


def test_a_negative_number_of_times_is_refused(dataset):
    with pytest.raises(ValueError, match="num_times is -1"):
        dataset.repeat(-1)


def test_a_row_is_added_at_the_end(any_dataset, rows):
    item = {"id": 99, "text": "last", "tokens": [1]}
    more = any_dataset.add_item(item)
    assert more.to_list() == [*rows, item]
    assert more.schema.types == any_dataset.schema.types
    assert more.map(lambda row: {"n": len(row["tokens"])})[-1] == {**item, "n": 1}
    assert more.fingerprint == any_dataset.add_item(item).fingerprint
    assert more.fingerprint != any_dataset.add_item({**item, "id": 98}).fingerprint


def test_an_added_row_may_lack_columns_and_have_others():
    more = Dataset.from_dict({"a": [1], "b": ["x"]}).add_item({"a": 2, "c": True})
    assert more.to_list() == [{"a": 1, "b": "x", "c": None}, {"a": 2, "b": None, "c": True}]


def test_an_added_value_of_another_kind_is_an_error_that_names_the_column(dataset):
    with pytest.raises(SchemaError, match="`tokens`"):
        dataset.add_item({"tokens": {"a": 1}})
