"""All classes of tables do what `pyarrow.Table` does, live and after every journey."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.table import ConcatenationTable, InMemoryTable, MemoryMappedTable, ShardWriter, Table, concat_tables

SCHEMA = pa.schema(
    [
        pa.field("i", pa.int32()),
        pa.field("s", pa.string()),
        pa.field("l", pa.list_(pa.int64())),
        pa.field("d", pa.struct([("x", pa.int64()), ("y", pa.string())])),
        pa.field("r", pa.float64(), nullable=False),
    ],
    metadata={"note": "first"},
)
NUM_ROWS = 23
KINDS = ["in memory", "mapped", "mapped, not open", "concatenated rows", "concatenated columns", "mixed blocks"]


def plain_table() -> pa.Table:
    rows = range(NUM_ROWS)
    columns = [
        pa.array([None if i % 5 == 0 else i for i in rows], pa.int32()),
        pa.array([None if i % 7 == 3 else "ä" * (i % 4) + str(i) for i in rows]),
        pa.array([None if i % 6 == 1 else list(range(i % 4)) for i in rows], pa.list_(pa.int64())),
        pa.array(
            [None if i % 8 == 2 else {"x": i, "y": None if i % 3 else f"y{i}"} for i in rows], SCHEMA.field("d").type
        ),
        pa.array([i / 2 for i in rows]),
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def write(table: pa.Table, path: Path, batch_rows: int = 4) -> Path:
    with ShardWriter(path, table.schema, batch_rows=batch_rows) as writer:
        for batch in table.to_batches():
            writer.write(batch)
    return path


@pytest.fixture(scope="module")
def directory():
    with TemporaryDirectory() as name:
        path = Path(name)
        table = plain_table()
        write(table, path / "all.arrow")
        write(table.slice(0, 9), path / "head.arrow")
        write(table.slice(9), path / "tail.arrow", batch_rows=5)
        write(table.select([0, 1]), path / "left.arrow")
        write(table.select([2, 3, 4]), path / "right.arrow", batch_rows=3)
        write(table.select([0, 1]).slice(0, 9), path / "head-left.arrow")
        yield path


def make(kind: str, directory: Path) -> Table:
    table = plain_table()
    mapped = lambda name: MemoryMappedTable.from_file(directory / f"{name}.arrow")
    if kind == "in memory":
        return InMemoryTable(pa.concat_tables([table.slice(0, 6), table.slice(6, 0), table.slice(6)]))
    if kind == "mapped":
        return mapped("all")
    if kind == "mapped, not open":
        return MemoryMappedTable.from_file(directory / "all.arrow", schema=SCHEMA, num_rows=NUM_ROWS)
    if kind == "concatenated rows":
        return concat_tables([mapped("head"), mapped("tail")])
    if kind == "concatenated columns":
        return concat_tables([mapped("left"), mapped("right")], axis=1)
    return concat_tables(
        [concat_tables([mapped("head-left"), table.select([2, 3, 4]).slice(0, 9)], axis=1), mapped("tail")]
    )


def journeys(table: Table) -> dict[str, Table]:
    return {
        "live": table,
        "pickled": pickle.loads(pickle.dumps(table)),
        "pickled twice": pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(table)))),
        "copied": copy.deepcopy(table),
    }


def in_pyarrow(name: str, operation, table: pa.Table) -> pa.Table:
    """Do what pyarrow does, but for its forgetting in some operations how many rows a table of no columns has."""
    done = operation(table)
    if done.num_columns:
        return done
    column = pa.table({"": pa.nulls(table.num_rows)}, metadata=done.schema.metadata)
    return (operation(column) if name.startswith(("slice", "filter")) else column).select([])


def assert_same(table: Table, expected: pa.Table) -> None:
    for journey, found in journeys(table).items():
        where = f"{type(found).__name__} {journey}"
        assert found.schema.equals(expected.schema, check_metadata=True), where
        assert found.num_rows == len(found) == expected.num_rows, where
        assert found.table.schema.equals(expected.schema, check_metadata=True), where
        assert found.equals(expected, check_metadata=True), where
        assert found.to_pylist() == expected.to_pylist(), where
        assert pa.Table.from_batches(list(found.iter_batches()), expected.schema).equals(expected), where
        if expected.num_rows and expected.num_columns:
            rows = np.random.default_rng(expected.num_rows).integers(0, expected.num_rows, 7)
            gathered = found.fast_gather(rows)
            gathered.validate(full=True)
            assert gathered.equals(expected.take(pa.array(rows))), where
            assert found.row(int(rows[0])) == expected.slice(rows[0], 1).to_pylist()[0], where


# -- every chain of operations ---------------------------------------------------------------------------------------


def _castable(schema: pa.Schema) -> pa.Schema:
    wider = {pa.int32(): pa.int64(), pa.int64(): pa.float64(), pa.string(): pa.large_string(), pa.null(): pa.string()}
    return pa.schema([pa.field(f.name, wider.get(f.type, f.type)) for f in schema], metadata={"cast": "yes"})


@st.composite
def operations(draw, table: pa.Table):  # noqa: C901, PLR0911  # a case for each operation
    """A name for the test report, and what to do to a table of this package and to one of pyarrow."""
    n, names = table.num_rows, table.column_names
    choices = ["slice", "filter", "combine_chunks", "flatten", "metadata", "add", "rename"]
    choices += ["select", "remove", "drop", "set"] if names else []
    choices += ["cast"] if len(set(names)) == len(names) else []
    kind = draw(st.sampled_from(choices))
    values = pa.array([None if i % 3 == 1 else i * 10 for i in range(n)], pa.int64())
    if kind == "slice":
        offset = draw(st.integers(0, n + 2))
        length = draw(st.none() | st.integers(0, n + 2))
        return f"slice({offset}, {length})", lambda t: t.slice(offset, length)
    if kind == "filter":
        mask = pa.array(draw(st.lists(st.sampled_from([True, True, False, None]), min_size=n, max_size=n)), pa.bool_())
        return "filter", lambda t: t.filter(mask)
    if kind == "combine_chunks":
        return kind, lambda t: t.combine_chunks()
    if kind == "flatten":
        return kind, lambda t: t.flatten()
    if kind == "metadata":
        metadata = draw(st.none() | st.dictionaries(st.sampled_from(["a", "b"]), st.text(max_size=3), max_size=2))
        return f"metadata {metadata}", lambda t: t.replace_schema_metadata(metadata)
    if kind == "add":
        i = draw(st.integers(0, len(names)))
        name = draw(st.sampled_from(["new", "newer", "i"]))
        return f"add {name} at {i}", lambda t: t.add_column(i, name, values)
    if kind == "set":
        i = draw(st.integers(0, len(names) - 1))
        return f"set {i}", lambda t: t.set_column(i, pa.field("z", pa.int64(), metadata={"k": "v"}), [values])
    if kind == "rename":
        new = [draw(st.sampled_from(["p", "q", f"c{j}"])) for j in range(len(names))]
        return f"rename {new}", lambda t: t.rename_columns(new)
    if kind == "select":
        columns = draw(st.lists(st.integers(0, len(names) - 1), max_size=6))
        return f"select {columns}", lambda t: t.select(columns)
    if kind == "remove":
        i = draw(st.integers(0, len(names) - 1))
        return f"remove {i}", lambda t: t.remove_column(i)
    if kind == "drop":
        name = draw(st.sampled_from(names))
        keep = [j for j, other in enumerate(names) if other != name]
        return f"drop {name}", lambda t: t.drop([name]) if isinstance(t, Table) else t.select(keep)
    target = _castable(table.schema)
    return "cast", lambda t: t.cast(target)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_any_chain_of_operations_gives_what_pyarrow_gives_live_pickled_and_copied(kind, directory, data):
    table, expected = make(kind, directory), plain_table()
    for _ in range(data.draw(st.integers(1, 6))):
        name, operation = data.draw(operations(expected))
        data.draw(st.just(name), label="operation")
        if data.draw(st.booleans()):
            table = pickle.loads(pickle.dumps(table))
        table, expected = operation(table), in_pyarrow(name, operation, expected)
    assert_same(table, expected)


# -- what all tables can do ------------------------------------------------------------------------------------------


@pytest.fixture(params=KINDS)
def table(request, directory):
    return make(request.param, directory)


def test_a_table_reads_like_a_table_of_pyarrow(table):
    plain = plain_table()
    assert (table.num_rows, table.num_columns, table.shape) == (NUM_ROWS, 5, (NUM_ROWS, 5))
    assert table.column_names == plain.column_names
    assert table.schema.equals(plain.schema, check_metadata=True)
    assert table.field("r").equals(plain.field("r"))
    assert table.column(1).equals(plain.column(1))
    assert table["s"].equals(plain["s"])
    assert [column.to_pylist() for column in table.itercolumns()] == [c.to_pylist() for c in plain.columns]
    assert table.to_pydict() == plain.to_pydict()
    assert table.to_pylist() == plain.to_pylist()
    assert table.to_pandas().equals(plain.to_pandas())
    assert table.to_reader().read_all().equals(plain)
    assert table.to_string() == table.table.to_string()
    table.validate(full=True)
    assert "23 rows of i: int32, s: string" in repr(table)


def test_batches_are_no_longer_than_asked_for_and_share_the_data(table):
    before = pa.total_allocated_bytes()
    batches = table.to_batches(max_chunksize=3)
    assert max(batch.num_rows for batch in batches) == 3
    assert pa.Table.from_batches(batches).equals(plain_table())
    assert max(batch.num_rows for batch in table.to_reader(max_chunksize=2)) == 2
    assert pa.total_allocated_bytes() - before < 2000
    with pytest.raises(ValueError, match="max_chunksize must be at least 1"):
        table.to_batches(max_chunksize=0)


def test_tables_are_equal_by_their_rows_and_if_asked_by_their_metadata(table):
    plain = plain_table()
    assert table == plain
    assert table == InMemoryTable(plain)
    assert table != plain.slice(1)
    assert table != plain.rename_columns(["i", "s", "l", "d", "q"])
    assert table != "a table"
    other = table.replace_schema_metadata({"note": "second"})
    assert table == other
    assert table.equals(plain, check_metadata=True)
    assert not table.equals(other, check_metadata=True)
    assert not table.equals(other.table, check_metadata=True)
    with pytest.raises(TypeError, match="unhashable"):
        hash(table)


def test_operations_leave_the_table_as_it_was(table):
    table.slice(1).select(["i"]).rename_columns(["x"]).append_column("y", list(range(22))).combine_chunks()
    table.filter(pc.field("r") > 3).cast(table.schema.remove_metadata())
    assert table.equals(plain_table(), check_metadata=True)


def test_rows_and_slices_out_of_range_are_index_errors(table):
    for i in (-1, NUM_ROWS):
        with pytest.raises(IndexError, match=rf"row {i} is out of range for a table of {NUM_ROWS} rows"):
            table.row(i)
    window = table.slice(5, 3)
    for find in (window.row, lambda i: window.fast_gather([0, i])):
        with pytest.raises(IndexError, match=re.escape("row 3 is out of range for a table of 3 rows")):
            find(3)
    with pytest.raises(IndexError, match="offset"):
        table.slice(-1)
    assert table.fast_slice(20, 99).equals(plain_table().slice(20))


def test_a_slice_costs_the_same_whatever_the_table_and_sizes_are_those_of_the_rows_shown(table):
    window = table.slice(3).slice(2, 10)
    assert window.nbytes <= table.nbytes
    assert window.nbytes == sum(batch.nbytes for batch in window.iter_batches())
    assert window.slice(0, 0).nbytes == 0
    assert window.fast_slice(1, 2).equals(plain_table().slice(6, 2))
    assert window.fast_gather([0, 9, 0]).equals(plain_table().take(pa.array([5, 14, 5])))


def test_a_table_survives_a_trip_through_a_ray_actor(directory, ray_session):
    @ray_session.remote
    class Keeper:
        def keep(self, tables):
            self.tables = [kept.slice(2).select(["s", "i"]) for kept in tables]

        def give(self):
            return self.tables

    tables = [make(kind, directory) for kind in KINDS]
    keeper = Keeper.remote()
    ray_session.get(keeper.keep.remote(tables))
    for before, after in zip(tables, ray_session.get(keeper.give.remote()), strict=True):
        assert type(after) is type(before)
        assert after.equals(before.table.slice(2).select(["s", "i"]), check_metadata=True)
    assert isinstance(after, ConcatenationTable)
    ray_session.kill(keeper)
