"""Batches as two arrays, and as a mapped file that processes share."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.errors import CorruptFileError
from raydata_ext.table import ShardWriter
from raydata_ext.text.batches import Batches


@pytest.fixture
def batches():
    return Batches(np.array([4, 2, 0, 1, 3], np.uint32), np.array([0, 2, 2, 5]))


def test_batches_are_a_sequence_of_arrays_that_share_one_array(batches):
    assert [batch.tolist() for batch in batches] == [[4, 2], [], [0, 1, 3]]
    assert len(batches) == 3
    assert batches[-1].base is batches.indices
    assert [batch.tolist() for batch in batches[1:]] == [[], [0, 1, 3]]
    assert batches.sizes.tolist() == [2, 0, 3]


def test_a_batch_that_there_is_not_is_named(batches):
    with pytest.raises(IndexError, match="batch 3 is out of range for 3 batches"):
        batches[3]


@pytest.mark.parametrize("lists", [[], [[]], [[7]], [[1, 2], [], [3]]])
def test_lists_and_files_give_the_same_batches(lists, tmp_path):
    batches = Batches.from_lists(lists)
    assert [batch.tolist() for batch in batches] == lists
    batches.save(tmp_path / "batches.arrow")
    opened = Batches.open(tmp_path / "batches.arrow")
    assert [batch.tolist() for batch in opened] == lists
    assert opened.indices.dtype == batches.indices.dtype


def test_mapped_batches_travel_as_their_path(batches, tmp_path):
    batches.save(tmp_path / "batches.arrow")
    opened = Batches.open(tmp_path / "batches.arrow")
    payload = pickle.dumps(opened)
    assert str(tmp_path).encode() in payload
    assert len(payload) < 300
    assert [batch.tolist() for batch in pickle.loads(payload)] == [[4, 2], [], [0, 1, 3]]
    assert [batch.tolist() for batch in pickle.loads(pickle.dumps(batches))] == [[4, 2], [], [0, 1, 3]]
    assert not opened.indices.flags.writeable


def test_a_large_file_of_batches_is_mapped_and_not_copied(tmp_path):
    rows = np.arange(300_000)
    Batches(rows, np.arange(0, 300_001, 100)).save(tmp_path / "batches.arrow")
    opened = Batches.open(tmp_path / "batches.arrow")
    assert len(opened) == 3000
    assert np.array_equal(opened.indices, rows)
    assert not opened.indices.flags.owndata


def test_another_file_is_refused(tmp_path, batches):
    table = pa.record_batch({"other": [1]})
    with ShardWriter(tmp_path / "other.arrow", table.schema) as writer:
        writer.write(table)
    with pytest.raises(CorruptFileError, match="no file of batches"):
        Batches.open(tmp_path / "other.arrow")


@pytest.mark.parametrize("boundaries", [[0, 4], [1, 5], [], [0, 3, 2, 5]])
def test_boundaries_that_do_not_fit_are_refused(boundaries):
    with pytest.raises(ValueError, match="boundaries"):
        Batches(np.arange(5), np.array(boundaries, np.int64))


@pytest.mark.parametrize("boundaries", [[0, 0, 3, 2, 5], [0, 1, 2, 5]])
def test_a_damaged_file_is_named(tmp_path, boundaries):
    lists = pa.LargeListArray.from_arrays(pa.array(boundaries, pa.int64()), pa.array(np.arange(5)))
    with ShardWriter(tmp_path / "batches.arrow", pa.schema([("indices", lists.type)])) as writer:
        writer.write(pa.record_batch({"indices": lists}))
    with pytest.raises(CorruptFileError, match=r"batches\.arrow: .*boundaries"):
        Batches.open(tmp_path / "batches.arrow")
