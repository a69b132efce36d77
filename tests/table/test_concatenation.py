"""Tables joined below one another and side by side: nothing copied, nothing opened early, nothing lost on a journey."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.errors import SchemaError, StateError
from raydata_ext.table import (
    ConcatenationTable,
    InMemoryTable,
    MemoryMappedTable,
    ShardWriter,
    concat_tables,
    list_table_cache_files,
)
from raydata_ext.table.concatenation import blocks_of

PLAIN = pa.table({"a": list(range(6)), "b": [f"b{i}" for i in range(6)]})


def write(path, table=PLAIN, batch_rows=2):
    with ShardWriter(path, table.schema, batch_rows=batch_rows) as writer:
        for batch in table.to_batches():
            writer.write(batch)
    return MemoryMappedTable.from_file(path)


@pytest.fixture
def mapped(tmp_path):
    return write(tmp_path / "t.arrow")


@pytest.fixture
def other(tmp_path):
    return write(tmp_path / "u.arrow", pa.table({"c": list(range(10, 16)), "d": [None, 1.5] * 3}), batch_rows=4)


def again(table):
    return pickle.loads(pickle.dumps(table))


def test_one_table_is_returned_as_it_is_and_no_table_is_an_error(mapped):
    assert concat_tables([mapped]) is mapped
    assert isinstance(concat_tables([PLAIN]), ConcatenationTable)
    with pytest.raises(ValueError, match="no tables"):
        concat_tables([])
    with pytest.raises(ValueError, match=r"axis must be 0 .* or 1"):
        concat_tables([mapped, mapped], axis=2)
    with pytest.raises(TypeError, match="cannot concatenate a list"):
        concat_tables([mapped, [1]])


def test_rows_below_one_another(mapped):
    table = concat_tables([mapped, PLAIN, mapped.slice(2, 3)])
    expected = pa.concat_tables([PLAIN, PLAIN, PLAIN.slice(2, 3)])
    assert table == again(table) == copy.deepcopy(table) == expected
    assert [[type(block) for block in row] for row in table.blocks] == [
        [MemoryMappedTable], [InMemoryTable], [MemoryMappedTable]
    ]  # fmt: skip
    assert table.row(13) == {"a": 3, "b": "b3"}


def test_columns_side_by_side_with_row_blocks_that_end_at_different_rows(mapped, other):
    three_and_three = concat_tables([mapped.slice(0, 3), mapped.slice(3)])
    two_two_two = concat_tables([other.slice(0, 2), other.slice(2, 2), other.slice(4)])
    table = concat_tables([three_and_three, two_two_two], axis=1)
    assert [[block.num_rows for block in row] for row in table.blocks] == [[2, 2], [1, 1], [1, 1], [2, 2]]
    expected = PLAIN.append_column("c", other.column("c")).append_column("d", other.column("d"))
    assert table == again(table) == expected
    nested = concat_tables(
        [concat_tables([table, table]), concat_tables([PLAIN.rename_columns(["e", "f"])] * 2)], axis=1
    )
    assert nested.column_names == ["a", "b", "c", "d", "e", "f"]
    assert nested.num_rows == 12
    assert again(nested) == nested
    assert nested.row(7) == {"a": 1, "b": "b1", "c": 11, "d": 1.5, "e": 1, "f": "b1"}


def test_different_numbers_of_rows_do_not_go_side_by_side(mapped, other):
    with pytest.raises(ValueError, match="6 and 5 rows cannot be joined side by side"):
        concat_tables([mapped, other.slice(1)], axis=1)
    with pytest.raises(ValueError, match="blocks side by side have 6 and 5 rows"):
        ConcatenationTable([[mapped, other.slice(1)]])


def test_tables_of_no_rows_can_be_joined_both_ways(mapped, other):
    below = concat_tables([mapped.slice(0, 0), PLAIN.slice(6)])
    side = concat_tables([mapped.slice(3, 0), other.slice(6)], axis=1)
    assert below == again(below) == PLAIN.slice(0, 0)
    assert side.column_names == again(side).column_names == ["a", "b", "c", "d"]
    assert side.num_rows == again(side).num_rows == 0
    assert concat_tables([below, mapped]) == PLAIN


def test_blocks_of_no_rows_and_tables_of_no_columns_can_be_joined(mapped, other):
    table = concat_tables([mapped.slice(0, 0), mapped, mapped.slice(6)])
    side = concat_tables([table, concat_tables([other.slice(3, 0), other])], axis=1)
    assert side == again(side)
    assert side.row(1) == {"a": 1, "b": "b1", "c": 11, "d": 1.5}
    bare = [InMemoryTable(PLAIN).select([]), mapped.select([])]
    assert len(again(concat_tables([bare[0], bare[0], bare[1]]))) == 18
    assert again(concat_tables([bare[0], mapped], axis=1)) == PLAIN
    assert len(concat_tables([mapped, bare[1]], axis=1).select([]).slice(1).table) == 5


def test_blocks_in_memory_that_stand_together_become_one_and_mapped_ones_stay(mapped, other):
    def kinds(table):
        return [[type(block).__name__[:2] for block in row] for row in table.blocks]

    memory = InMemoryTable(PLAIN)
    assert kinds(concat_tables([memory, memory, mapped, mapped, memory])) == [["In"], ["Me"], ["Me"], ["In"]]
    sides = concat_tables([memory, memory.rename_columns(["c", "d"]), other.rename_columns(["e", "f"])], axis=1)
    assert kinds(sides) == [["In", "Me"]]
    assert kinds(concat_tables([sides, sides])) == [["In", "Me"], ["In", "Me"]]
    assert kinds(ConcatenationTable.from_blocks([[memory], [memory]])) == [["In"]]
    assert kinds(ConcatenationTable.from_blocks([memory, mapped])) == [["In"], ["Me"]]
    assert kinds(ConcatenationTable.from_blocks(memory)) == [["In"]]


def test_missing_columns_are_null_and_types_are_widened_without_opening_files(tmp_path, mapped):
    first = MemoryMappedTable.from_file(tmp_path / "t.arrow", schema=PLAIN.schema, num_rows=6)
    floats = pa.table({"c": [1.5, None], "a": [0.5, 7.0]})
    nulls = pa.table({"c": pa.nulls(1), "b": pa.nulls(1)})
    table = concat_tables([first, floats, nulls])
    assert table.schema == pa.schema([("a", pa.float64()), ("b", pa.string()), ("c", pa.float64())])
    expected = [{"a": float(i), "b": f"b{i}", "c": None} for i in range(6)]
    expected += [{"a": 0.5, "b": None, "c": 1.5}, {"a": 7.0, "b": None, "c": None}, {"a": None, "b": None, "c": None}]
    assert table.to_pylist() == again(table).to_pylist() == expected
    assert [table.row(i) for i in range(9)] == expected
    sides = concat_tables([mapped.select(["b"]), mapped.select(["a"])], axis=1)
    assert concat_tables([sides, floats]).to_pylist()[5:7] == [
        {"b": "b5", "a": 5.0, "c": None}, {"b": None, "a": 0.5, "c": 1.5}
    ]  # fmt: skip


def test_types_that_do_not_go_together_are_a_schema_error_that_names_column_and_types(mapped):
    with pytest.raises(SchemaError, match=r"a.*int64.*string"):
        concat_tables([mapped, pa.table({"a": ["text"]})])


def test_a_type_of_which_a_table_has_no_value_gives_way(mapped):
    nothing = pa.table({"a": pa.array([None, None], pa.int64()), "l": pa.array([[], None], pa.list_(pa.int64()))})
    joined = concat_tables([nothing, pa.table({"a": ["x"], "l": [["y"]]})])

    assert joined.schema.types == [pa.string(), pa.list_(pa.string())]
    assert pickle.loads(pickle.dumps(joined)).to_pydict() == {"a": [None, None, "x"], "l": [[], None, ["y"]]}


def test_the_order_of_selected_columns_survives_pickling(mapped, other):
    table = concat_tables([mapped, other], axis=1)
    for columns in (["c", "a"], ["d", "b", "c", "a"], [2, 0], [1, 3, 1]):
        selected = table.select(columns)
        assert selected.column_names == again(selected).column_names
        assert selected.to_pylist() == again(selected).to_pylist()
        assert selected.num_rows == again(selected).num_rows == 6
    assert table.select(["c", "a"]).column_names == ["c", "a"]
    assert table.select([2, 0]).table.to_pydict() == {"c": list(range(10, 16)), "a": list(range(6))}


def test_empty_slices_metadata_and_fields_that_may_not_be_null_survive_pickling(mapped, other):
    table = concat_tables([concat_tables([mapped, other], axis=1)] * 2)
    for empty in (table.slice(0, 0), table.slice(12), table.slice(99), table.slice(3, -1)):
        assert empty.num_rows == again(empty).num_rows == 0
        assert again(empty) == empty
    with pytest.raises(IndexError, match="must not be negative"):
        table.slice(-1)
    noted = table.replace_schema_metadata({"k": "v"})
    assert again(noted).schema.metadata == again(noted).table.schema.metadata == {b"k": b"v"}
    assert next(again(noted).iter_batches()).schema.metadata == {b"k": b"v"}
    firm = pa.schema([pa.field(f.name, f.type, nullable=f.name == "d") for f in table.schema])
    cast = table.cast(firm)
    assert again(cast).schema.equals(firm)
    assert again(cast).table.schema.equals(firm)
    assert again(cast).fast_gather([3]).schema.equals(firm)


def test_casts_find_columns_by_name_and_put_them_in_order(mapped, other):
    table = concat_tables([mapped, other], axis=1)
    target = pa.schema(
        [("d", pa.float32()), ("a", pa.string()), ("new", pa.int8()), ("c", pa.int16()), ("b", pa.binary())]
    )
    cast = table.cast(target, add_missing=True)
    assert cast.schema == again(cast).table.schema == target
    assert again(cast).row(1) == {"d": 1.5, "a": "1", "new": None, "c": 11, "b": b"b1"}
    with pytest.raises(SchemaError, match="new"):
        table.cast(target)
    with pytest.raises(SchemaError, match="d"):
        table.cast(pa.schema([("a", pa.int64()), ("b", pa.string()), ("c", pa.int64())]))


def test_columns_can_be_added_set_and_removed(mapped, other):
    table = concat_tables([concat_tables([mapped, other], axis=1)] * 2)
    expected = table.table
    column = pa.array(range(12))
    for change in (
        lambda t: t.add_column(0, "x", column),
        lambda t: t.add_column(1, "x", column),
        lambda t: t.append_column(pa.field("x", pa.int64()), column),
        lambda t: t.set_column(2, "x", column),
        lambda t: t.remove_column(3),
    ):
        changed = change(table)
        assert changed == again(changed) == change(expected)
        assert list_table_cache_files(changed) == list_table_cache_files(table)


def test_the_files_behind_a_table_are_listed_once_each(mapped, other):
    table = concat_tables([mapped, PLAIN, mapped, concat_tables([other, other.slice(2)]).rename_columns(["a", "x"])])
    assert list_table_cache_files(table) == [mapped.path, other.path]
    assert list_table_cache_files(table.slice(0, 8)) == [mapped.path]
    assert list_table_cache_files(InMemoryTable(PLAIN)) == []
    assert list(blocks_of(table)) == [block for row_block in table.blocks for block in row_block]
    assert list(blocks_of(mapped)) == [mapped]


def test_only_blocks_can_be_blocks(mapped):
    with pytest.raises(TypeError, match="blocks must be InMemoryTable or MemoryMappedTable, not Table"):
        ConcatenationTable([[PLAIN]])
    with pytest.raises(TypeError, match="ConcatenationTable"):
        ConcatenationTable([[concat_tables([mapped, mapped])]])
    with pytest.raises(ValueError, match="columns"):
        ConcatenationTable([[mapped], [mapped.select(["a"])]])
    with pytest.raises(ValueError, match="needs a schema"):
        ConcatenationTable([])


def test_a_state_that_does_not_fit_together_is_refused(mapped):
    state = concat_tables([mapped, mapped]).__getstate__()
    for wrong in (
        {},
        {**state, "schema": 7},
        {**state, "schema": pa.schema([("z", pa.int8())])},
        {**state, "blocks": [[7]]},
        {**state, "blocks": [[mapped, mapped]]},
    ):
        with pytest.raises(StateError):
            ConcatenationTable.__new__(ConcatenationTable).__setstate__(wrong)


def test_a_hundred_mapped_files_are_joined_without_allocating_data(tmp_path):
    big = pa.table({"text": ["x" * 1000] * 100})
    tables = [write(tmp_path / f"{i}.arrow", big) for i in range(100)]
    before = pa.total_allocated_bytes()
    table = concat_tables(tables)
    assert table.num_rows == len(table.table) == 10_000
    assert table.nbytes > 10_000_000
    assert table.slice(50, 5000).select(["text"]).table.num_rows == 5000
    assert pa.total_allocated_bytes() - before < 100_000


def test_ten_thousand_files_that_are_known_are_joined_and_sent_without_opening_one(tmp_path):
    tables = [
        MemoryMappedTable.from_file(tmp_path / f"{i}.arrow", schema=PLAIN.schema, num_rows=6, num_bytes=1)
        for i in range(10_000)
    ]
    table = again(concat_tables(tables).select(["b", "a"]))
    assert table.num_rows == len(table.slice(6)) + 6 == 60_000
    assert table.schema.names == ["b", "a"]


def test_only_the_files_whose_rows_are_touched_are_opened(tmp_path):
    tables = [MemoryMappedTable.from_file(tmp_path / f"{i}.arrow", schema=PLAIN.schema, num_rows=6) for i in range(5)]
    table = concat_tables(tables)
    write(tmp_path / "1.arrow")
    write(tmp_path / "3.arrow")
    assert table.row(7) == {"a": 1, "b": "b1"}
    assert table.fast_slice(18, 6) == PLAIN
    assert table.fast_gather([23, 6, 11]).to_pydict() == {"a": [5, 0, 5], "b": ["b5", "b0", "b5"]}
    assert table.slice(8, 3).to_pydict() == {"a": [2, 3, 4], "b": ["b2", "b3", "b4"]}
    assert len(list(table.slice(6, 6).iter_batches())) == 3
    with pytest.raises(FileNotFoundError):
        table.row(0)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_nesting_of_rows_and_columns_gives_what_plain_lists_give(data):
    def build(depth, num_rows, names):
        kind = data.draw(st.sampled_from(["block", "rows", "columns"] if depth else ["block"]))
        if kind == "rows" and num_rows > 1:
            cut = data.draw(st.integers(0, num_rows))
            parts = [build(depth - 1, n, names) for n in (cut, num_rows - cut)]
            return concat_tables([part[0] for part in parts]), parts[0][1] + parts[1][1]
        if kind == "columns" and len(names) > 1:
            cut = data.draw(st.integers(1, len(names) - 1))
            parts = [build(depth - 1, num_rows, some) for some in (names[:cut], names[cut:])]
            rows = [{**left, **right} for left, right in zip(parts[0][1], parts[1][1], strict=True)]
            return concat_tables([part[0] for part in parts], axis=1), rows
        rows = [{name: data.draw(st.integers(0, 9)) for name in names} for _ in range(num_rows)]
        schema = pa.schema([(name, pa.int64()) for name in names])
        return InMemoryTable(pa.Table.from_pylist(rows, schema)), rows

    table, rows = build(3, data.draw(st.integers(0, 7)), list("abcd")[: data.draw(st.integers(1, 4))])
    start, length = data.draw(st.integers(0, 8)), data.draw(st.integers(0, 8))
    for same in (table, again(table), copy.deepcopy(table)):
        assert same.to_pylist() == rows
        assert [same.row(i) for i in range(len(rows))] == rows
        assert (
            same.slice(start, length).to_pylist()
            == again(same.slice(start, length)).to_pylist()
            == rows[start:][:length]
        )
        if rows:
            order = np.random.default_rng(0).integers(0, len(rows), 9)
            assert same.fast_gather(order).to_pylist() == [rows[i] for i in order]
