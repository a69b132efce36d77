"""Several streams as one, and one stream for several readers."""

from __future__ import annotations

from itertools import chain, pairwise

import pyarrow as pa
import pytest

from raydata_ext.errors import SchemaError
from raydata_ext.streaming import IterableDataset, concatenate_datasets, split_dataset_by_node
from raydata_ext.table import InMemoryTable


def stream_of(*sizes, start=0):
    tables = []
    for size in sizes:
        tables.append(InMemoryTable(pa.table({"x": range(start, start + size)})))
        start += size
    return IterableDataset.from_tables(tables)


def generated(*sizes):
    ends = [sum(sizes[:i]) for i in range(len(sizes) + 1)]

    def count_up(shards):
        for low, high in shards:
            yield from ({"x": number} for number in range(low, high))

    return IterableDataset.from_generator(count_up, {"shards": list(pairwise(ends))})


def numbers(stream):
    return [row["x"] for row in stream]


def parts_of(stream, world_size, **options):
    return [numbers(split_dataset_by_node(stream, rank, world_size, **options)) for rank in range(world_size)]


# -- concatenation ----------------------------------------------------------------------------------------------------


def test_streams_come_one_after_the_other():
    assert numbers(concatenate_datasets([stream_of(2), generated(1, 1), stream_of(1, start=7)])) == [0, 1, 0, 1, 7]


def test_columns_that_are_known_are_null_in_the_rows_of_streams_that_lack_them():
    first = IterableDataset.from_tables([pa.table({"x": [1]})])
    second = generated(1).map(lambda row: {"y": "a"}, remove_columns="x", schema=pa.schema([("y", pa.string())]))
    assert list(concatenate_datasets([first, second])) == [{"x": 1, "y": None}, {"x": None, "y": "a"}]


def test_shards_of_concatenated_streams_are_shuffled_together():
    streams = [stream_of(10, 10), generated(10, 10).map(lambda row: {"x": row["x"] + 20})]
    rows = numbers(concatenate_datasets(streams).shuffle(1, buffer_size=5))
    assert sorted(rows) == list(range(40))
    assert {n >= 20 for n in rows[:10]} == {True, False}


def test_shards_of_concatenated_streams_are_dealt():
    both = concatenate_datasets([stream_of(1, 1, 1), stream_of(1, 1, start=3)])
    assert both.num_shards == 5
    assert numbers(both.shard(2, 0, contiguous=False)) == [0, 2, 4]
    assert numbers(both.shard(2, 1, contiguous=False)) == [1, 3]
    assert numbers(both.shard(2, 1)) == [3, 4]


def test_columns_stand_side_by_side():
    texts = IterableDataset.from_tables([pa.table({"text": ["a", "b"]}), pa.table({"text": ["c"]})])
    both = concatenate_datasets([stream_of(1, 2), texts], axis=1)
    assert list(both) == [{"x": 0, "text": "a"}, {"x": 1, "text": "b"}, {"x": 2, "text": "c"}]
    assert both.column_names == ["x", "text"]


def test_streams_side_by_side_must_have_equally_many_rows_and_different_columns():
    with pytest.raises(SchemaError, match="part 1 has ended"):
        list(concatenate_datasets([stream_of(3), stream_of(2).rename_column("x", "y")], axis=1))
    with pytest.raises(SchemaError, match="more than one has a column 'x'"):
        list(concatenate_datasets([stream_of(3), stream_of(3)], axis=1))


def test_nothing_and_another_axis_are_refused():
    with pytest.raises(ValueError, match="no streams"):
        concatenate_datasets([])
    with pytest.raises(ValueError, match="axis is 2"):
        concatenate_datasets([stream_of(1)], axis=2)


# -- nodes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [stream_of, generated])
@pytest.mark.parametrize("world_size", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("strategy", ["auto", "rows"])
def test_nodes_read_each_row_once(make, world_size, strategy):
    parts = parts_of(make(5, 4, 3, 7), world_size, strategy=strategy)
    assert sorted(chain(*parts)) == list(range(19))
    if strategy == "rows":
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_nodes_get_shards_where_they_divide_evenly_and_rows_elsewhere():
    assert parts_of(stream_of(2, 2, 2, 2), 2) == [[0, 1, 4, 5], [2, 3, 6, 7]]
    assert parts_of(stream_of(2, 2, 2), 2) == [[0, 2, 4], [1, 3, 5]]
    assert parts_of(stream_of(2, 2, 2), 2, strategy="shards") == [[0, 1, 4, 5], [2, 3]]


def test_rows_that_do_not_divide_evenly_are_dropped_or_repeated():
    assert parts_of(stream_of(7), 3, strategy="rows") == [[0, 3, 6], [1, 4], [2, 5]]
    assert parts_of(stream_of(7), 3, strategy="rows", remainder="drop") == [[0, 3], [1, 4], [2, 5]]
    assert parts_of(stream_of(8), 3, strategy="rows", remainder="pad") == [[0, 3, 6], [1, 4, 7], [2, 5, 6]]
    for remainder in ("drop", "pad", "uneven"):
        part = split_dataset_by_node(stream_of(8), 2, 3, strategy="rows", remainder=remainder)
        assert len(part) == len(list(part))


@pytest.mark.parametrize("make", [stream_of, generated])
def test_rows_of_a_shuffled_stream_are_dealt_in_the_order_of_one_node(make):
    stream = make(9, 8, 4).shuffle(3, buffer_size=6)
    parts = parts_of(stream, 2, strategy="rows")
    dealt = [parts[place % 2][place // 2] for place in range(21)]
    assert dealt == numbers(stream)


def test_nodes_read_the_shards_of_the_epoch():
    def parts_in(epoch):
        rows = []
        for rank in range(2):
            part = split_dataset_by_node(stream_of(*[3] * 8).shuffle(1, buffer_size=2), rank, 2)
            part.set_epoch(epoch)
            rows.append(numbers(part))
        return rows

    for epoch in (0, 1):
        assert sorted(chain(*parts_in(epoch))) == list(range(24))
    assert set(parts_in(0)[0]) != set(parts_in(1)[0])


@pytest.mark.parametrize("make", [stream_of, generated])
def test_splits_of_splits_read_each_row_once(make):
    rows = []
    for outer in range(2):
        for inner in range(3):
            part = split_dataset_by_node(split_dataset_by_node(make(9, 8, 4).shuffle(3), outer, 2), inner, 3)
            rows += numbers(part)
    assert sorted(rows) == list(range(21))


def test_a_part_that_is_shuffled_keeps_its_rows():
    for rank in range(2):
        part = split_dataset_by_node(stream_of(5, 6), rank, 2)
        assert sorted(numbers(part.shuffle(rank, buffer_size=4))) == sorted(numbers(part))


def test_a_map_is_not_called_on_rows_of_other_nodes():
    seen = []
    list(split_dataset_by_node(generated(9).map(lambda row: seen.append(row["x"])), 1, 3, strategy="rows"))
    assert seen == [1, 4, 7]


def test_rows_of_mapped_files_that_go_to_other_nodes_are_not_read():
    node = split_dataset_by_node(stream_of(9, 9).shuffle(1, buffer_size=4), 0, 3, strategy="rows").node
    assert node.indexed
    cursor = node.open({id(table): 0 for table in node.tables})
    assert len(cursor.next()) == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rank": 3, "world_size": 3}, "rank is 3 of 3"),
        ({"rank": 0, "world_size": 2, "strategy": "files"}, "strategy is 'files'"),
        ({"rank": 0, "world_size": 2, "remainder": "lose"}, "remainder is 'lose'"),
        ({"rank": 0, "world_size": 4, "strategy": "shards"}, "2 shards cannot be dealt to 4 nodes"),
    ],
)
def test_what_cannot_be_split_so_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        split_dataset_by_node(stream_of(3, 3), **arguments)
