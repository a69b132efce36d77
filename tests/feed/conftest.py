"""What tests of the feed share: the reference order, and streams of numbered rows."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pyarrow as pa
import pytest

from raydata_ext.streaming import IterableDataset

_PATH = Path(__file__).with_name("lane_order.py")


@pytest.fixture(scope="session")
def oracle():
    """The reference order, as a module."""
    spec = importlib.util.spec_from_file_location("lane_order", _PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shards_of(sizes, first=0):
    """Lists of row numbers, one a shard."""
    shards = []
    for size in sizes:
        shards.append(list(range(first, first + size)))
        first += size
    return shards


@pytest.fixture(scope="session")
def numbered():
    """Make a stream with a column `x` of row numbers: of shard sizes, and of a shuffle if there is a seed."""

    def make(sizes, seed=None, buffer_size=10, first=0, **options):
        tables = [pa.table({"x": pa.array(shard, pa.int64())}) for shard in shards_of(sizes, first)]
        stream = IterableDataset.from_tables(tables)
        return stream if seed is None else stream.shuffle(seed, buffer_size=buffer_size, **options)

    return make


@pytest.fixture(scope="session")
def shards():
    """Make the shards of `numbered` as lists, for the reference order."""
    return shards_of
