"""Reading rows, with and without an indices mapping, from files and memory."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.dataset import Dataset

KEYS = [
    slice(None),
    slice(3, 9),
    slice(-5, None),
    slice(None, None, -1),
    slice(2, 20, 7),
    slice(9, 3),
    slice(100, 200),
    [],
    [5],
    [5, 3, 5],
    [-1, 0, -23],
    range(4, 8),
    range(8, 4, -2),
    np.array([0, -1]),
    np.array([22, 7], np.uint8),
]


def columns(rows):
    return {name: [row[name] for row in rows] for name in ("id", "text", "tokens")}


@pytest.mark.parametrize("key", [0, -1, 7, np.int64(18), np.uint8(3), np.array(-23)])
def test_a_row_is_a_dict(any_dataset, rows, key):
    assert any_dataset[key] == rows[int(key)]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_rows_are_a_dict_of_columns(any_dataset, rows, key):
    chosen = rows[key] if isinstance(key, slice) else [rows[number] for number in key]
    assert any_dataset[key] == columns(chosen)


@pytest.mark.parametrize("key", [23, -24, [0, 23], [-24], np.array([23]), range(20, 25)])
def test_a_row_that_is_not_there_is_an_index_error(any_dataset, key):
    with pytest.raises(IndexError, match="is out of range for 23 rows"):
        any_dataset[key]


def test_a_column_that_is_not_there_is_a_key_error_that_lists_those_that_are(dataset):
    with pytest.raises(KeyError, match=r"no column 'body'; the columns are \['id', 'text', 'tokens'\]"):
        dataset["body"]


@pytest.mark.parametrize("key", [1.5, None, [True, False], [["a"]]])
def test_other_keys_are_type_errors(dataset, key):
    with pytest.raises(TypeError):
        dataset[key]


def test_one_iterates_over_rows(any_dataset, rows):
    assert list(any_dataset) == rows
    assert len(any_dataset) == any_dataset.num_rows == 23
    assert any_dataset.shape == (23, 3)


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("size", [1, 7, 23, 24])
def test_batches_are_what_slices_are(any_dataset, size, drop):
    batches = list(any_dataset.iter(size, drop))
    starts = range(0, 23 - 23 % size if drop else 23, size)
    assert batches == [any_dataset[start : start + size] for start in starts]


def test_a_batch_has_rows(dataset):
    with pytest.raises(ValueError, match="batch_size is 0; it must be at least 1"):
        dataset.iter(0)


def test_what_a_loader_asks_for_is_a_list_of_rows(any_dataset, rows):
    assert any_dataset.__getitems__([3, -1, 3]) == [rows[3], rows[-1], rows[3]]
    assert any_dataset.__getitems__([]) == []


def test_all_rows_may_be_taken_into_memory(any_dataset, rows):
    assert any_dataset.to_list() == rows
    assert any_dataset.to_dict() == columns(rows)
    assert any_dataset.to_arrow().to_pylist() == rows
    assert any_dataset.to_pandas()["text"].tolist() == columns(rows)["text"]
    assert any_dataset.to_polars().to_dicts() == rows


def test_frames_may_come_batch_by_batch(any_dataset, rows):
    frames = list(any_dataset.to_pandas(batch_size=10, batched=True))
    assert [len(frame) for frame in frames] == [10, 10, 3]
    assert [text for frame in frames for text in frame["text"]] == columns(rows)["text"]
    assert [len(frame) for frame in any_dataset.to_pandas(batched=True)] == [23]


def test_arrow_sees_the_rows_where_they_lie(dataset):
    through_the_interface = pa.table(dataset)
    assert through_the_interface.equals(dataset.to_arrow())
    first = [table.column("id").chunk(0).buffers()[1].address for table in (through_the_interface, dataset.to_arrow())]
    assert first[0] == first[1], "the same memory, not a copy"


def test_arrow_sees_rows_in_the_order_of_the_mapping(dataset, rows):
    assert pa.table(dataset.select([2, 0])).to_pylist() == [rows[2], rows[0]]


def test_rows_without_columns_are_still_rows(dataset):
    bare = dataset.remove_columns(dataset.column_names)
    assert (len(bare), bare[0], list(bare), bare[:2]) == (23, {}, [{}] * 23, {})
    assert list(bare.select([1, 0])) == [{}, {}]


def test_a_data_set_of_files_travels_as_paths(dataset, rows):
    pickled = pickle.dumps(dataset.select([5, 3]))
    assert b"row 5" not in pickled
    assert list(pickle.loads(pickled)) == [rows[5], rows[3]]


def test_a_data_set_in_memory_travels_with_the_rows_it_has(tmp_path):
    whole = Dataset.from_dict({"n": list(range(100_000))}, cache_dir=tmp_path)
    pickled = pickle.dumps(whole.select(range(10)))
    assert len(pickled) < 20_000
    assert pickle.loads(pickled)["n"] == list(range(10))


def test_a_travelled_data_set_is_the_same_one(dataset):
    travelled = pickle.loads(pickle.dumps(dataset.shuffle(seed=1).with_format("numpy", columns=["id"])))
    assert travelled.fingerprint == dataset.shuffle(seed=1).fingerprint
    assert travelled.format == dataset.with_format("numpy", columns=["id"]).format
    assert travelled.cache_files == dataset.cache_files
