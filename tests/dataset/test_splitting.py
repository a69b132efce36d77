"""A training and a test part."""

from __future__ import annotations

import datasets
import pytest

from raydata_ext.dataset import Dataset


@pytest.fixture
def reference(rows):
    return datasets.Dataset.from_list(rows)


@pytest.mark.parametrize(
    "arguments",
    [
        {"seed": 3},
        {"test_size": 5, "seed": 3},
        {"test_size": 0.3, "seed": 4},
        {"train_size": 0.3, "seed": 4},
        {"test_size": 3, "train_size": 4, "seed": 0},
        {"test_size": 0.5, "shuffle": False},
    ],
)
def test_the_training_and_test_parts_are_those_of_hugging_face(any_dataset, reference, arguments):
    ours, theirs = any_dataset.train_test_split(**arguments), reference.train_test_split(**arguments)
    assert list(ours) == ["train", "test"]
    for part in ours:
        assert ours[part]["id"] == list(theirs[part]["id"])


def test_parts_may_keep_the_proportions_of_a_column(tmp_path):
    labels = ["a"] * 60 + ["b"] * 30 + ["c"] * 10
    dataset = Dataset.from_dict({"label": labels, "n": list(range(100))}, cache_dir=tmp_path)
    parts = dataset.train_test_split(test_size=0.2, stratify_by_column="label", seed=1)
    counts = {name: [list(part["label"]).count(label) for label in "abc"] for name, part in parts.items()}
    assert counts == {"train": [48, 24, 8], "test": [12, 6, 2]}
    assert sorted([*parts["train"]["n"], *parts["test"]["n"]]) == list(range(100))
    assert list(parts["test"]["label"]) != sorted(parts["test"]["label"]), "mixed"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"test_size": 0}, "test_size is 0; of 23 rows"),
        ({"test_size": 23}, "test_size is 23; of 23 rows"),
        ({"test_size": 1.0}, "test_size is 1.0"),
        ({"train_size": -0.1}, "train_size is -0.1"),
        ({"test_size": 20, "train_size": 10}, "are 30 of 23 rows"),
        ({"test_size": 0.99}, "nothing is left to train on"),
        ({"shuffle": False, "stratify_by_column": "id"}, "needs shuffle=True"),
        ({"stratify_by_column": "id"}, "only one row has"),
        ({"stratify_by_column": "body"}, "no column 'body'"),
    ],
)
def test_parts_that_cannot_be_made_are_refused(dataset, arguments, error):
    with pytest.raises(ValueError, match=error):
        dataset.train_test_split(**arguments)
