"""What the tests of nodes share: small sources of both kinds, the rows of a node, and going on from every row."""

from __future__ import annotations

import itertools
import json

import pyarrow as pa
import pytest

from raydata_ext.streaming import IterableDataset
from raydata_ext.streaming.make_source import source_of_generator, source_of_tables
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.state import decode, encode


def _count_up(bounds):
    for low, high in bounds:
        yield from ({"x": number} for number in range(low, high))


def _of_tables(*sizes):
    return source_of_tables([pa.table({"x": pa.array(range(*run), pa.int64())}) for run in _runs(sizes)])


def _of_a_generator(*sizes):
    return source_of_generator(_count_up, {"bounds": _runs(sizes)}, None)


def _runs(sizes):
    return list(itertools.pairwise(itertools.accumulate(sizes, initial=0)))


@pytest.fixture
def tables():
    """Sizes of shards -> a source of the rows {"x": 0}, {"x": 1} and so on, which have references."""
    return _of_tables


@pytest.fixture
def generated():
    """Sizes of shards -> the same rows, which have no references."""
    return _of_a_generator


@pytest.fixture(params=[_of_tables, _of_a_generator], ids=["references", "record batches"])
def numbers(request):
    """Sizes of shards -> the same rows, once with references and once without."""
    return request.param


@pytest.fixture
def rows():
    """Node -> all its rows."""
    return lambda node: list(IterableDataset(node))


@pytest.fixture
def xs(rows):
    """Node -> the values of column x."""
    return lambda node: [row["x"] for row in rows(node)]


def _goes_on_at_every_row(make):
    def read(reader):
        return reader.take(1).to_pylist() if reader.available() else []

    reader, whole, states = RowReader(open_rows(make(), None)), [], []
    while True:
        states.append(json.dumps(encode(reader.state())))
        found = read(reader)
        if not found:
            break
        whole += found
    for place, state in enumerate(states):
        later = RowReader(open_rows(make(), None))
        later.load(decode(json.loads(state)))
        rest = [row for _ in range(len(whole) + 1) for row in read(later)]
        assert rest == whole[place:], f"left after {place} rows"


@pytest.fixture
def goes_on_at_every_row():
    """Given what makes a node: a position saved as JSON at each row, and at the end, is gone on from by another."""
    return _goes_on_at_every_row
