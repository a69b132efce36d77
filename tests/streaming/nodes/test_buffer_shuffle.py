"""The order of a shuffle is that of the reference, row for row."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.streaming import IterableDataset
from raydata_ext.table import InMemoryTable

TABLE = InMemoryTable(pa.table({"x": range(100_000)}))


def shards_of(sizes):
    return [list(range(low, high)) for low, high in itertools.pairwise(itertools.accumulate(sizes, initial=0))]


def stream_of(sizes):
    bounds = itertools.accumulate(sizes, initial=0)
    return IterableDataset.from_tables([TABLE.slice(low, high - low) for low, high in itertools.pairwise(bounds)])


def references(node):
    """The order that a node gives, without reading rows."""
    cursor = node.open({id(table): 0 for table in node.tables})
    found = []
    while (piece := cursor.next()) is not None:
        found += piece.tolist()
    return found


def random_case(generator):
    sizes = generator.integers(0, generator.choice([2, 10, 60]), size=generator.integers(1, 25)).tolist()
    options = {
        "buffer_size": int(generator.choice([1, 2, 7, 50, 2000])),
        "max_buffer_input_shards": int(generator.integers(1, 13)),
    }
    return sizes, int(generator.integers(0, 1 << 40)), options, int(generator.choice([0, 0, 1, 2, 9]))


@pytest.mark.parametrize("part", range(8))
def test_the_order_is_the_reference_for_any_shards_seed_buffer_and_epoch(part, oracle):
    generator = np.random.default_rng(part)
    for _ in range(250):
        sizes, seed, options, epoch = random_case(generator)
        node = stream_of(sizes).shuffle(seed, **options).node
        node = node.at_epoch(epoch) if epoch else node
        assert references(node) == oracle.shuffled(shards_of(sizes), seed, **options, epoch=epoch), (
            sizes,
            seed,
            options,
        )


@pytest.mark.parametrize("part", range(4))
def test_the_order_is_the_reference_for_any_loader_process(part, oracle):
    generator = np.random.default_rng(100 + part)
    for _ in range(100):
        sizes, seed, options, epoch = random_case(generator)
        count = int(generator.integers(1, len(sizes) + 1))
        for index in range(count):
            node = stream_of(sizes).shuffle(seed, **options).node
            node = (node.at_epoch(epoch) if epoch else node).split(count, index).shift_seeds(index)
            expected = oracle.shuffled(shards_of(sizes), seed, **options, epoch=epoch, worker=(index, count))
            assert references(node) == expected, (sizes, seed, options, index, count)


@pytest.mark.parametrize("part", range(3))
def test_rows_that_have_no_references_come_in_the_same_order(part, oracle):
    generator = np.random.default_rng(200 + part)

    def count_up(shards):
        yield from ({"x": number} for shard in shards for number in shard)

    for _ in range(25):
        sizes, seed, options, epoch = random_case(generator)
        stream = IterableDataset.from_generator(count_up, {"shards": shards_of(sizes)}).shuffle(seed, **options)
        stream.set_epoch(epoch)
        assert [row["x"] for row in stream] == oracle.shuffled(shards_of(sizes), seed, **options, epoch=epoch)


@pytest.mark.parametrize("buffer_size", [900, 5000, 70_000])
def test_the_order_is_the_reference_over_many_windows(buffer_size, oracle):
    sizes = [9000, 12_000, 1, 30_000, 700]
    node = stream_of(sizes).shuffle(1, buffer_size=buffer_size).node
    assert references(node) == oracle.shuffled(shards_of(sizes), 1, buffer_size)


GOLDEN = json.loads(Path(__file__).parent.with_name("golden_shuffles.json").read_text())


def test_the_order_is_that_which_hugging_face_datasets_gave():
    assert GOLDEN["made_by"] == "datasets 5.0.1"
    for case in GOLDEN["cases"]:
        sizes, seed, order = case.pop("sizes"), case.pop("seed"), case.pop("order")
        assert references(stream_of(sizes).shuffle(seed, **case).node) == order, (sizes, seed, case)


def test_epochs_differ_and_come_again():
    stream = stream_of([50, 50]).shuffle(1, buffer_size=20)
    orders = {}
    for epoch in (0, 1, 2, 1, 0):
        stream.set_epoch(epoch)
        order = [row["x"] for row in stream]
        assert orders.setdefault(epoch, order) == order
    assert len({tuple(order) for order in orders.values()}) == 3
    assert all(sorted(order) == list(range(100)) for order in orders.values())


def test_a_stream_that_is_not_shuffled_has_the_same_order_in_every_epoch():
    stream = stream_of([3, 4])
    stream.set_epoch(5)
    assert [row["x"] for row in stream] == list(range(7))


def test_shuffled_rows_of_the_first_rows_are_those_rows():
    assert sorted(row["x"] for row in stream_of([9, 9]).take(10).shuffle(1, buffer_size=4)) == list(range(10))


def test_the_first_rows_of_shuffled_rows_are_the_first_of_that_order():
    shuffled = stream_of([9, 9]).shuffle(1, buffer_size=4)
    assert list(shuffled.take(10)) == list(shuffled)[:10]
    assert list(shuffled.skip(10)) == list(shuffled)[10:]


def test_steps_that_treat_each_row_for_itself_are_done_after_the_shuffle():
    seen = []
    mapped = stream_of([500, 500]).map(lambda row: seen.append(row["x"]) or {"y": row["x"]}).shuffle(1, buffer_size=100)
    assert mapped.node.child.indexed
    rows = list(mapped.take(3))
    assert [row["y"] for row in rows] == [row["x"] for row in rows] == seen


def test_a_million_rows_of_buffer_take_a_few_bytes_each():
    node = IterableDataset.from_tables([InMemoryTable(pa.table({"x": pa.nulls(1_200_000)}))]).shuffle(
        1, buffer_size=10**6
    )
    cursor = node.node.open({id(table): 0 for table in node.node.tables})
    cursor.next()
    assert cursor.state()["buffer"].nbytes == 8 * 10**6


@pytest.mark.parametrize("options", [{"buffer_size": 0}, {"max_buffer_input_shards": 0}, {"seed": -1}])
def test_what_cannot_be_shuffled_by_is_refused(options):
    with pytest.raises(ValueError, match="must be at least"):
        stream_of([3]).shuffle(**options)


def test_without_a_seed_each_stream_has_its_own_order_which_stays():
    stream = stream_of([100]).shuffle(buffer_size=50)
    assert list(stream) == list(stream)
    assert list(stream) != list(stream_of([100]).shuffle(buffer_size=50))
