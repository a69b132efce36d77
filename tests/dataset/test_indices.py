"""Indices mappings in memory and in files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from raydata_ext.dataset.indices import MAX_BYTES_IN_MEMORY, Indices
from raydata_ext.store import Store
from raydata_ext.table import MemoryMappedTable

LARGE = MAX_BYTES_IN_MEMORY // 8 + 1


@pytest.fixture
def store(tmp_path):
    return Store.open(tmp_path / "cache")


def test_a_small_mapping_stays_in_memory(store):
    indices = Indices.of(np.array([3, 1, 3]), store)
    assert indices.rows.tolist() == [3, 1, 3]
    assert indices.cache_files == []
    assert list(store.keys()) == []


def test_a_large_mapping_is_a_mapped_file_of_one_column_of_uint64(store):
    rows = np.random.default_rng(0).permutation(LARGE)
    indices = Indices.of(rows, store)
    (path,) = indices.cache_files
    table = MemoryMappedTable.from_file(path).table
    assert table.schema.names == ["indices"]
    assert str(table.schema.types[0]) == "uint64"
    assert table.column(0).num_chunks == 1
    assert np.array_equal(indices.rows, rows)


def test_equal_mappings_share_a_file(store):
    rows = np.arange(LARGE)[::-1].copy()
    assert Indices.of(rows, store).cache_files == Indices.of(rows.copy(), store).cache_files
    assert len(list(store.keys())) == 1


def test_of_a_large_mapping_only_the_path_travels(store):
    indices = Indices.of(np.arange(LARGE)[::-1].copy(), store)
    part = indices.slice(10, LARGE - 10)
    assert part.rows[0] == LARGE - 11
    pickled = pickle.dumps(part)
    assert len(pickled) < 5000
    assert np.array_equal(pickle.loads(pickled).rows, part.rows)


def test_a_part_of_a_small_mapping_takes_no_other_numbers_along(store):
    part = Indices.of(np.arange(100_000)[::-1].copy(), store).slice(0, 10)
    assert len(pickle.dumps(part)) < 10_000
    assert pickle.loads(pickle.dumps(part)).rows.tolist() == list(range(99_999, 99_989, -1))


def test_the_digest_is_of_the_numbers_wherever_they_are(store):
    rows = np.arange(LARGE)[::-1].copy()
    mapped = Indices.of(rows, store)
    assert mapped.slice(5, 9).digest == Indices.of(rows[5:9], store).digest
    assert mapped.slice(5, 9).digest != mapped.slice(6, 10).digest


def test_a_mapping_of_no_rows_has_no_rows(store):
    assert Indices.of(np.array([1, 2]), store).slice(1, 1).rows.tolist() == []
