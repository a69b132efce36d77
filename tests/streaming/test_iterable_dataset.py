"""The face of a stream: what each method gives."""

from __future__ import annotations

import asyncio
import multiprocessing

import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.errors import PlanError, SchemaError, StepError
from raydata_ext.streaming import IterableDataset
from raydata_ext.table import InMemoryTable


def stream_of(*sizes):
    first, tables = 0, []
    for size in sizes:
        numbers = range(first, first + size)
        tables.append(InMemoryTable(pa.table({"x": numbers, "text": [f"row {n}" for n in numbers]})))
        first += size
    return IterableDataset.from_tables(tables)


def numbers(stream):
    return [row["x"] for row in stream]


def count_up(bounds):
    for low, high in bounds:
        yield from ({"x": number} for number in range(low, high))


# -- sources ----------------------------------------------------------------------------------------------------------


def test_rows_of_tables_come_in_order_as_dicts():
    assert list(stream_of(1, 0, 2)) == [{"x": 0, "text": "row 0"}, {"x": 1, "text": "row 1"}, {"x": 2, "text": "row 2"}]


def test_rows_without_columns_are_counted():
    assert list(stream_of(3).select_columns([])) == [{}, {}, {}]


def test_a_generator_is_called_once_a_shard():
    stream = IterableDataset.from_generator(count_up, {"bounds": [(0, 2), (5, 8)]})
    assert stream.num_shards == 2
    assert numbers(stream) == [0, 1, 5, 6, 7]


def test_arguments_that_are_no_lists_are_given_to_each_shard():
    def rows(name, shards):
        yield {"name": name, "shards": shards}

    assert list(IterableDataset.from_generator(rows, {"name": "a", "shards": [1, 2]})) == [
        {"name": "a", "shards": [1]},
        {"name": "a", "shards": [2]},
    ]


def test_the_first_row_of_a_slow_generator_comes_before_the_second_is_made():
    made = []

    def rows():
        for number in range(10):
            made.append(number)
            yield {"x": number}

    assert next(iter(IterableDataset.from_generator(rows))) == {"x": 0}
    assert made == [0]


def test_lists_of_shards_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match=r"one length, not \{'a': 1, 'b': 2\}"):
        IterableDataset.from_generator(count_up, {"a": [1], "b": [1, 2]})


def test_no_shards_are_refused():
    with pytest.raises(ValueError, match="are empty"):
        IterableDataset.from_generator(count_up, {"bounds": []})
    with pytest.raises(ValueError, match="no tables"):
        IterableDataset.from_tables([])


def test_an_error_in_a_generator_names_the_shard():
    def rows(shards):
        yield {"x": 1}
        raise KeyError("lost")

    with pytest.raises(StepError, match=r"rows\[1\]: KeyError: 'lost'"):
        list(IterableDataset.from_generator(rows, {"shards": [1, 2]}).shard(2, 1))


def test_rows_of_a_generator_that_do_not_go_together_are_named():
    def rows():
        yield {"x": 1}
        yield {"x": 1}
        yield {"x": 2}
        yield {"x": "two"}

    with pytest.raises(SchemaError, match="rows from 2 on"):
        list(IterableDataset.from_generator(rows))


def test_a_schema_gives_the_rows_of_a_generator_their_types():
    stream = IterableDataset.from_generator(count_up, {"bounds": [(0, 1)]}, schema=pa.schema([("x", pa.float32())]))
    assert next(stream.with_format("arrow").iter(5)).schema.field("x").type == pa.float32()


# -- steps ------------------------------------------------------------------------------------------------------------


def test_map_merges_what_the_function_returns():
    assert list(stream_of(1).map(lambda row: {"y": row["x"] + 1})) == [{"x": 0, "text": "row 0", "y": 1}]


def test_map_gives_the_number_of_the_row():
    assert [row["i"] for row in stream_of(3, 2).skip(1).map(lambda row, i: {"i": i}, with_indices=True)] == [0, 1, 2, 3]


def test_map_by_batches_sees_batches_of_the_size_over_shard_borders():
    sizes = []
    list(stream_of(3, 4).map(lambda batch: sizes.append(len(batch["x"])), batched=True, batch_size=2))
    assert sizes == [2, 2, 2, 1]


def test_map_may_be_a_coroutine_function_or_a_class():
    class Add:
        def __init__(self, amount):
            self.amount = amount

        def __call__(self, x):
            return {"x": x + self.amount}

    async def later(row):
        await asyncio.sleep(0)
        return {"x": -row["x"]}

    stream = stream_of(3).map(Add, constructor_kwargs={"amount": 10}, input_columns="x").map(later)
    assert numbers(stream) == [-10, -11, -12]


def test_an_instance_is_torn_down_at_the_end_of_the_pass():
    events = []

    class Model:
        def setup(self):
            events.append("setup")

        def teardown(self):
            events.append("teardown")

        def __call__(self, row):
            return row

    stream = stream_of(2).map(Model)
    list(stream)
    assert events == ["setup", "teardown"]


def test_a_class_is_built_once_for_all_groups_of_a_shuffle_and_all_rounds():
    built = []

    class Model:
        def __init__(self):
            built.append(self)

        def __call__(self, batch):
            return batch

    stream = IterableDataset.from_generator(count_up, {"bounds": [(0, 9)] * 6}).map(Model, batched=True)
    assert len(list(stream.shuffle(1, buffer_size=5).repeat(2))) == 108
    assert len(built) == 1


def test_an_error_in_a_function_names_step_and_row():
    def fail(row):
        if row["x"] == 2:
            raise ValueError("two")
        return row

    with pytest.raises(StepError, match=r"`fail`: stream: row 2: ValueError: two"):
        list(stream_of(4).map(fail))


def test_map_and_filter_by_batches_are_given_the_format_of_the_stream():
    kinds = []

    def look(batch):
        kinds.append(type(batch["x"]))
        return {"x": batch["x"]}

    list(stream_of(2).with_format("numpy").map(look, batched=True))
    list(stream_of(2).with_format("numpy").map(look, batched=True, batch_format="python"))
    assert kinds == [np.ndarray, list]


def test_filter_keeps_rows_for_which_the_function_says_so():
    assert numbers(stream_of(6).filter(lambda row: row["x"] % 2 == 1)) == [1, 3, 5]
    assert numbers(stream_of(6).filter(lambda x: [n > 3 for n in x], input_columns="x", batched=True)) == [4, 5]


def test_columns_are_selected_removed_renamed_and_cast():
    assert list(stream_of(1).select_columns("text")) == [{"text": "row 0"}]
    assert list(stream_of(1).remove_columns(["text"])) == [{"x": 0}]
    assert list(stream_of(1).rename_column("x", "n")) == [{"n": 0, "text": "row 0"}]
    cast = stream_of(1).cast(pa.schema([("x", pa.string()), ("text", pa.string()), ("z", pa.int8())]))
    assert list(cast) == [{"x": "0", "text": "row 0", "z": None}]


def test_one_column_is_cast_whether_the_others_are_known_or_not():
    known = stream_of(2).cast_column("x", pa.float32())
    assert known.schema.field("x").type == pa.float32()
    assert list(known)[1] == {"x": 1.0, "text": "row 1"}
    unknown = IterableDataset.from_generator(count_up, {"bounds": [(0, 2)]}).cast_column("x", pa.string())
    assert list(unknown) == [{"x": "0"}, {"x": "1"}]
    with pytest.raises(StepError, match="no column 'y'"):
        list(unknown.cast_column("y", pa.int8()))


def test_a_column_is_added_value_by_value():
    added = stream_of(2, 1).shuffle(1).add_column("z", ["a", "b", "c"])
    assert [row["z"] for row in added] == ["a", "b", "c"]
    assert added.column_names == ["x", "text", "z"]
    with pytest.raises(SchemaError, match="has ended"):
        list(stream_of(3).add_column("z", [1, 2]))


def test_columns_that_are_not_known_cannot_be_selected_or_removed_by_chance():
    unknown = IterableDataset.from_generator(count_up, {"bounds": [(0, 2)]})
    assert unknown.column_names is None
    for method in (unknown.select_columns, unknown.remove_columns):
        with pytest.raises(ValueError, match="columns are None, as are `column_names`"):
            method(unknown.column_names)
    mapped = unknown.map(lambda row: {"y": row["x"]}, remove_columns=unknown.column_names)
    assert list(mapped) == [{"x": 0, "y": 0}, {"x": 1, "y": 1}]
    by_first_row = unknown.map(lambda row: {"y": row["x"]}, remove_columns=[*next(iter(unknown))])
    assert list(by_first_row) == [{"y": 0}, {"y": 1}]


def test_the_schema_of_a_generator_is_known_where_it_is_given():
    schema = pa.schema([("x", pa.int8())])
    stream = IterableDataset.from_generator(count_up, {"bounds": [(0, 2)]}, schema=schema)
    assert stream.schema == schema
    assert stream.cast_column("x", pa.string()).schema == pa.schema([("x", pa.string())])


def send_rows(stream, connection):
    connection.send(list(stream))


def test_functions_within_functions_travel_to_processes_that_are_spawned():
    amount = 5

    def rows():
        yield from ({"x": number + amount} for number in range(2))

    stream = IterableDataset.from_generator(rows).map(lambda row: {"y": row["x"] * amount})
    spawn = multiprocessing.get_context("spawn")
    parent, child = spawn.Pipe()
    process = spawn.Process(target=send_rows, args=(stream, child))
    process.start()
    assert parent.recv() == [{"x": 5, "y": 25}, {"x": 6, "y": 30}]
    process.join()


@pytest.mark.parametrize(
    ("name", "remedy"), [("to_parquet", "collect"), ("features", "schema"), ("n_shards", "num_shards")]
)
def test_what_users_of_hugging_face_look_for_is_answered_with_what_there_is(name, remedy):
    with pytest.raises(AttributeError, match=f"no '{name}': .*{remedy}"):
        getattr(stream_of(1), name)
    assert not hasattr(stream_of(1), name)


def test_the_format_is_told():
    assert stream_of(1).format_options == {"name": None, "columns": None}
    assert stream_of(1).with_format("numpy", columns=["x"]).format_options == {"name": "numpy", "columns": ["x"]}


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(PlanError, match="no column 'y'"):
        list(stream_of(1).remove_columns("y"))


def test_rows_are_put_together_and_taken_apart():
    batches = list(stream_of(5).select_columns("x").batch(2))
    assert batches == [{"x": [0, 1]}, {"x": [2, 3]}, {"x": [4]}]
    assert list(stream_of(5).select_columns("x").batch(2, drop_last_batch=True)) == batches[:2]
    assert numbers(stream_of(5).batch(2).unbatch()) == [0, 1, 2, 3, 4]


def test_lists_of_different_lengths_or_no_lists_are_not_taken_apart():
    stream = IterableDataset.from_tables([pa.table({"a": [[1, 2]], "b": [[1]]})])
    with pytest.raises(SchemaError, match="differ in length"):
        list(stream.unbatch())
    with pytest.raises(SchemaError, match="'x' is int64, no list"):
        list(stream_of(2).unbatch())


# -- order ------------------------------------------------------------------------------------------------------------


def test_skip_and_take_together_are_all_rows():
    stream = stream_of(3, 0, 4)
    for n in (0, 1, 3, 5, 7, 9):
        assert numbers(stream.take(n)) + numbers(stream.skip(n)) == list(range(7))


def test_taking_rows_after_a_map_does_not_call_it_on_others():
    seen = []
    assert len(list(stream_of(50).map(lambda row: seen.append(row["x"])).skip(10).take(3))) == 3
    assert seen == [10, 11, 12]


def test_repeat_gives_the_rows_again():
    assert numbers(stream_of(2).repeat(3)) == [0, 1] * 3
    assert numbers(stream_of(2).repeat(0)) == []
    assert numbers(stream_of(2).repeat().take(5)) == [0, 1, 0, 1, 0]
    assert numbers(stream_of(0).repeat()) == []


def test_parts_of_a_stream_are_all_rows_once():
    stream = stream_of(4, 3, 5)
    for count in (1, 2, 3, 5):
        for contiguous in (True, False):
            rows = [n for i in range(count) for n in numbers(stream.shard(count, i, contiguous=contiguous))]
            assert sorted(rows) == list(range(12))
    assert numbers(stream.shard(2, 0)) == list(range(7))
    assert numbers(stream.shard(2, 0, contiguous=False)) == [*range(4), *range(7, 12)]


def test_a_part_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="there are parts 0 to 1"):
        stream_of(4).shard(2, 2)


def test_tables_are_resharded_by_rows_or_by_record_batches():
    stream = stream_of(4, 3)
    assert stream.reshard(5).num_shards >= 5
    assert numbers(stream.reshard(5)) == list(range(7))
    batches = pa.Table.from_batches([pa.record_batch({"x": [n]}) for n in range(3)])
    assert IterableDataset.from_tables([batches]).reshard().num_shards == 3


def test_the_number_of_rows_is_known_where_nothing_must_be_read_for_it():
    stream = stream_of(5, 4)
    assert len(stream) == 9
    assert len(stream.shuffle(1).map(lambda row: row).skip(2).take(4)) == 4
    assert len(stream.repeat(3)) == 27
    assert len(stream.batch(2)) == len(list(stream.batch(2)))
    assert len(stream.shard(2, 1)) == 4


@pytest.mark.parametrize(
    "make",
    [
        lambda s: s.filter(lambda row: True),
        lambda s: s.map(lambda batch: batch, batched=True),
        lambda s: s.repeat(),
        lambda s: s.batch(2).unbatch(),
        lambda s: IterableDataset.from_generator(count_up, {"bounds": [(0, 3)]}),
    ],
)
def test_the_number_of_rows_is_not_guessed(make):
    with pytest.raises(TypeError, match="not known"):
        len(make(stream_of(3)))


def test_schema_and_columns_are_known_where_nothing_must_be_read_for_them():
    stream = stream_of(3).shuffle(1).rename_column("x", "n").remove_columns("text").take(2)
    assert stream.column_names == ["n"]
    assert stream.schema == pa.schema([("n", pa.int64())])
    assert stream.map(lambda row: row).column_names is None


# -- reading ----------------------------------------------------------------------------------------------------------


def test_batches_have_the_size_that_was_asked_for():
    assert [batch["x"] for batch in stream_of(3, 4).iter(3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [batch["x"] for batch in stream_of(3, 4).iter(3, drop_last_batch=True)] == [[0, 1, 2], [3, 4, 5]]


def test_rows_and_batches_come_in_the_format():
    stream = stream_of(3).with_format("numpy", columns=["x"])
    assert list(stream) == [{"x": 0}, {"x": 1}, {"x": 2}]
    [batch] = stream.iter(3)
    assert isinstance(batch["x"], np.ndarray)
    [table] = stream_of(3).with_format("arrow").iter(5)
    assert table.equals(pa.table({"x": [0, 1, 2], "text": ["row 0", "row 1", "row 2"]}))


def test_an_unknown_format_is_refused_at_once():
    with pytest.raises(ValueError, match="no format"):
        stream_of(1).with_format("excel")


def test_unshuffled_rows_of_tables_are_not_copied():
    column = pa.array(range(5000))
    [first, *_] = IterableDataset.from_tables([pa.table({"x": column})]).with_format("arrow").iter(1000)
    assert first["x"].chunk(0).buffers()[1].address == column.buffers()[1].address


def test_two_passes_over_one_stream_do_not_disturb_each_other():
    stream = stream_of(4, 4).shuffle(1, buffer_size=3)
    first, second = iter(stream), iter(stream)
    pairs = [(next(first), next(second)) for _ in range(8)]
    assert all(one == two for one, two in pairs)


def test_a_negative_number_is_refused():
    for wrong in (lambda s: s.skip(-1), lambda s: s.take(-1), lambda s: s.repeat(-1), lambda s: s.batch(0)):
        with pytest.raises(ValueError, match="must be at least"):
            wrong(stream_of(3))
    with pytest.raises(ValueError, match="batch_size is 0"):
        stream_of(3).iter(0)
    with pytest.raises(ValueError, match="epoch is -1"):
        stream_of(3).set_epoch(-1)


def test_a_stream_is_true_even_where_its_rows_are_not_counted():
    assert stream_of(0)
    assert stream_of(3).filter(lambda row: True)


def test_a_stream_shows_what_it_is():
    assert repr(stream_of(3, 2)) == "IterableDataset(columns ['x', 'text'], 2 shards, epoch 0)"
