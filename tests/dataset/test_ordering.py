"""Choosing and ordering rows: the same rows as Hugging Face `datasets`, and no row moved."""

from __future__ import annotations

import logging
import re

import datasets
import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.dataset import Dataset
from raydata_ext.table import MemoryMappedTable


@pytest.fixture
def reference(rows):
    return datasets.Dataset.from_list(rows)


@pytest.mark.parametrize("keys", [[], [3], [5, 3, 5], range(4, 9), range(9, 4, -1), np.array([0, 22]), iter([2, 3, 4])])
def test_select_gives_the_rows_at_some_positions(any_dataset, rows, keys):
    keys = list(keys)
    assert list(any_dataset.select(keys)) == [rows[key] for key in keys]


def test_select_counts_negative_positions_from_the_end(any_dataset, rows):
    assert list(any_dataset.select([-1, 0, -23])) == [rows[-1], rows[0], rows[0]]


def test_select_of_a_selection_counts_within_it(any_dataset, rows):
    assert list(any_dataset.select([9, 4, 7]).select([-1, 0]).select([1])) == [rows[9]]
    assert any_dataset.select([9, 4, 7])[[-1, 0]]["id"] == [7, 9]


def test_a_run_of_rows_needs_no_mapping_and_other_rows_do(dataset):
    assert dataset.select([4, 5, 6]).parts.indices is None
    assert dataset.select([]).parts.indices is None
    mapped = dataset.select([4, 6])
    assert mapped.parts.indices.rows.tolist() == [4, 6]
    assert mapped.parts.table is dataset.parts.table
    assert mapped.select([0]).parts.indices.rows.tolist() == [4], "a run of a mapping is a run of the mapping"


@pytest.mark.parametrize("keys", [[23], [0, -24]])
def test_a_position_that_is_not_there_is_an_index_error(any_dataset, keys):
    with pytest.raises(IndexError, match="is out of range for 23 rows"):
        any_dataset.select(keys)


def test_no_rows_is_a_data_set_like_any_other(any_dataset):
    empty = any_dataset.select([])
    assert (len(empty), list(empty), empty["id"], empty[:]["id"]) == (0, [], [], [])
    assert empty.schema == any_dataset.schema
    assert list(empty.map(lambda row: {"n": 1})) == []
    assert len(empty.shuffle(seed=1).sort("id").select([])) == 0


@pytest.mark.parametrize("seed", [0, 42])
def test_shuffle_has_the_order_of_hugging_face(any_dataset, reference, seed):
    assert list(any_dataset.shuffle(seed=seed)["id"]) == list(reference.shuffle(seed=seed)["id"])


def test_shuffle_takes_a_generator_which_moves_on(any_dataset, reference):
    ours, theirs = np.random.default_rng(5), np.random.default_rng(5)
    for _ in range(2):
        assert list(any_dataset.shuffle(generator=ours)["id"]) == list(reference.shuffle(generator=theirs)["id"])


def test_shuffle_without_a_seed_is_another_order_each_time_and_tells_its_seed(any_dataset, caplog):
    with caplog.at_level(logging.INFO, logger="raydata_ext"):
        orders = [list(any_dataset.shuffle()["id"]) for _ in range(3)]
    assert len({tuple(order) for order in orders}) == 3
    seeds = [int(seed) for seed in re.findall(r"seed=(\d+)", caplog.text)]
    assert [list(any_dataset.shuffle(seed=seed)["id"]) for seed in seeds] == orders


def test_a_seed_and_a_generator_contradict_each_other(dataset):
    with pytest.raises(ValueError, match="give one of them"):
        dataset.shuffle(seed=1, generator=np.random.default_rng())


SORTED = pa.table(
    {
        "a": [3, None, 1, 3, 2, None],
        "b": ["x", "y", None, "w", "z", "v"],
        "n": range(6),
    }
)


@pytest.mark.filterwarnings("ignore:Specifying null_placement in SortOptions:FutureWarning:pyarrow")  # of the reference
@pytest.mark.parametrize("nulls", ["at_start", "at_end"])
@pytest.mark.parametrize(
    ("names", "reverse"),
    [("a", False), ("a", True), ("b", False), (["a", "b"], False), (["a", "b"], [True, False]), (["b", "a"], True)],
)
def test_sort_has_the_order_of_hugging_face(names, reverse, nulls):
    ours = Dataset.from_arrow(SORTED).sort(names, reverse, nulls)
    theirs = datasets.Dataset(SORTED).sort(names, reverse, nulls)
    assert ours["n"] == list(theirs["n"])


@pytest.mark.filterwarnings("error")
def test_sorting_uses_nothing_that_pyarrow_is_about_to_take_away():
    assert Dataset.from_arrow(SORTED).sort(["a", "b"], [True, False], "at_start")["n"][:2] == [5, 1]


def test_sort_works_on_the_rows_as_they_are_ordered(any_dataset):
    assert any_dataset.shuffle(seed=1).sort("id")["id"] == list(range(23))
    by_length = any_dataset.map(lambda row: {"length": len(row["tokens"])}).sort("length")
    expected = sorted(range(23), key=lambda number: number % 4)
    assert by_length["id"] == expected, "rows that are equal stay in the order that they had"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("body",), ValueError, "no column 'body'"),
        (([],), ValueError, "0 columns to sort by"),
        ((["id", "text"], [True]), ValueError, "2 columns to sort by and 1 values of reverse"),
        (("id", False, "first"), ValueError, "null_placement is 'first'"),
        (("tokens",), TypeError, r"cannot sort: 'tokens' is list<"),
    ],
)
def test_sort_says_what_is_wrong(dataset, arguments, error, message):
    with pytest.raises(error, match=message):
        dataset.sort(*arguments)


@pytest.mark.parametrize("contiguous", [True, False])
@pytest.mark.parametrize("count", [1, 4, 23])
def test_shards_are_those_of_hugging_face(any_dataset, reference, count, contiguous):
    for index in range(count):
        ours = any_dataset.shard(count, index, contiguous)
        assert ours["id"] == list(reference.shard(count, index, contiguous)["id"])


def test_shards_beyond_the_rows_have_none(any_dataset):
    assert [len(any_dataset.shard(25, index)) for index in range(25)] == [1] * 23 + [0, 0]


@pytest.mark.parametrize(("count", "index"), [(0, 0), (3, 3), (3, -1)])
def test_a_shard_that_is_not_there_is_refused(dataset, count, index):
    with pytest.raises(ValueError, match=f"index is {index} of num_shards={count}"):
        dataset.shard(count, index)


def test_skip_and_take_are_the_rest_and_the_head(any_dataset):
    assert any_dataset.skip(20)["id"] == [20, 21, 22]
    assert any_dataset.take(2)["id"] == [0, 1]
    assert (len(any_dataset.skip(30)), len(any_dataset.take(30))) == (0, 23)
    with pytest.raises(ValueError, match="number of rows is -1"):
        any_dataset.take(-1)


def test_unique_values_come_in_the_order_of_their_first(any_dataset):
    lengths = any_dataset.map(lambda row: {"length": len(row["tokens"])}).select([3, 2, 3, 1])
    assert lengths.unique("length") == [3, 2, 1]
    assert any_dataset.select([]).unique("id") == []
    with pytest.raises(TypeError, match="column 'tokens' is list<"):
        any_dataset.unique("tokens")
    with pytest.raises(ValueError, match="no column 'body'"):
        any_dataset.unique("body")


def test_the_mapping_of_many_rows_is_a_mapped_file_which_is_found_again(tmp_path):
    dataset = Dataset.from_dict({"n": np.arange(200_000)}, cache_dir=tmp_path / "cache")
    first, second = dataset.shuffle(seed=1), dataset.shuffle(seed=1)
    (file,) = first.cache_files
    assert MemoryMappedTable.from_file(file["filename"]).num_rows == 200_000
    assert second.cache_files == first.cache_files
    assert first.fingerprint == second.fingerprint != dataset.shuffle(seed=2).fingerprint
    assert np.array_equal(first.with_format("numpy")["n"], np.random.default_rng(1).permutation(200_000))


def test_the_fingerprint_tells_orders_apart(dataset):
    made = [
        dataset,
        dataset.select([1, 0]),
        dataset.select([0, 1]),
        dataset.shuffle(seed=1),
        dataset.shuffle(seed=2),
        dataset.sort("id", reverse=True),
        dataset.shard(2, 0),
        dataset.shard(2, 1),
        dataset.shard(2, 0, contiguous=False),
    ]
    assert len({one.fingerprint for one in made}) == len(made)
    assert dataset.shuffle(seed=1).fingerprint == dataset.shuffle(seed=1).fingerprint
    assert dataset.select(range(2)).fingerprint == dataset.take(2).fingerprint == dataset.select([0, 1]).fingerprint


COMPARED = {
    "dictionary": pa.DictionaryArray.from_arrays(pa.array([1, 0, None, 1]), pa.array(["b", "a", "never used"])),
    "string_view": pa.array(["a", "b", None, "a"], pa.string_view()),
    "binary_view": pa.array([b"a", b"b", None, b"a"], pa.binary_view()),
}


@pytest.mark.parametrize("kind", COMPARED)
def test_text_of_every_layout_is_sorted_and_encoded_by_its_values(kind):
    rows = Dataset.from_arrow(pa.table({"n": range(4), "text": COMPARED[kind]}))
    assert rows.sort("text")["n"][:] == [0, 3, 1, 2]
    assert rows.sort("text", reverse=True, null_placement="at_start")["n"][:] == [2, 1, 0, 3]
    assert rows.class_encode_column("text")["text"][:] == [0, 1, None, 0]
    assert rows.unique("text") == [rows[0]["text"], rows[1]["text"], None]


def test_rows_without_a_label_are_not_dealt_to_parts_by_label():
    rows = Dataset.from_dict({"label": ["x", None] * 10})
    with pytest.raises(ValueError, match=r"'label' is null in 10 rows.*fill or filter"):
        rows.train_test_split(0.5, stratify_by_column="label", seed=1)
