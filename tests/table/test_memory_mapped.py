"""Tables in mapped files: opened late, pickled as a path and few operations, and never the wrong file."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from raydata_ext.errors import CorruptFileError, SchemaError, StaleFileError, StateError
from raydata_ext.table import MemoryMappedTable, ShardWriter, list_table_cache_files

SCHEMA = pa.schema([("path", pa.string()), ("text", pa.string()), ("n", pa.int64())])
PLAIN = pa.table(
    {"path": [f"p{i}" for i in range(1000)], "text": ["x" * 1000] * 1000, "n": list(range(1000))}, schema=SCHEMA
)


def write(path, table=PLAIN, batch_rows=100):
    with ShardWriter(path, table.schema, batch_rows=batch_rows) as writer:
        for batch in table.to_batches():
            writer.write(batch)
    return path


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "t.arrow")


def test_a_mapped_table_reads_the_file_and_takes_no_memory(path):
    before = pa.total_allocated_bytes()
    table = MemoryMappedTable.from_file(path)
    assert pa.total_allocated_bytes() - before < 10_000
    assert table.num_rows == 1000
    assert table.nbytes > 1_000_000
    assert table.slice(17, 500).select(["text"]).num_rows == 500
    assert pa.total_allocated_bytes() - before < 10_000
    assert table == PLAIN
    assert table.path == str(path)
    assert list_table_cache_files(table) == [str(path)]


def test_the_path_is_absolute_so_that_a_table_survives_a_change_of_directory(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pickled = pickle.dumps(MemoryMappedTable.from_file("t.arrow"))
    monkeypatch.chdir("/")
    assert pickle.loads(pickled) == PLAIN


def test_a_file_that_is_known_is_not_opened_until_rows_are_touched(tmp_path):
    table = MemoryMappedTable.from_file(tmp_path / "later.arrow", schema=SCHEMA, num_rows=1000)
    changed = (
        pickle.loads(pickle.dumps(table.slice(10).select(["n", "text"])))
        .rename_columns(["number", "text"])
        .cast(pa.schema([("number", pa.float64()), ("text", pa.large_string())]))
        .filter(pa.array([True, False] * 495))
        .replace_schema_metadata({"a": "b"})
        .append_column("new", list(range(495)))
        .combine_chunks()
        .slice(5)
    )
    assert changed.num_rows == 490
    assert changed.schema.names == ["number", "text", "new"]
    with pytest.raises(FileNotFoundError):
        changed.row(0)
    write(tmp_path / "later.arrow")
    assert changed.row(0) == {"number": 20.0, "text": "x" * 1000, "new": 5}
    assert changed.table.schema.equals(changed.schema, check_metadata=True)


def test_a_file_that_is_not_there_or_not_whole_is_an_error_at_once_where_it_is_opened_at_once(path):
    with pytest.raises(FileNotFoundError):
        MemoryMappedTable.from_file(path.with_name("none.arrow"))
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(CorruptFileError):
        MemoryMappedTable.from_file(path)


def test_a_file_that_has_changed_since_is_a_stale_file_error_that_says_how(path):
    table = MemoryMappedTable.from_file(path)
    pickled = pickle.dumps(table)
    size = path.stat().st_size
    write(path, PLAIN.slice(0, 999))
    with pytest.raises(StaleFileError, match=rf"t.arrow has changed .*it has \d+ bytes and had {size}; make"):
        len(pickle.loads(pickled).table)
    known = {"schema": SCHEMA, "num_rows": 1000}
    with pytest.raises(StaleFileError, match="it has 999 rows and had 1000"):
        len(MemoryMappedTable.from_file(path, **known).table)
    with pytest.raises(StaleFileError, match="it has 999 rows and had 1000"):
        MemoryMappedTable.from_file(path, num_rows=1000)
    write(path, PLAIN.rename_columns(["path", "text", "m"]))
    with pytest.raises(
        StaleFileError, match=r"its columns are path: string, text: string, m: int64 and were .*n: int64"
    ):
        len(MemoryMappedTable.from_file(path, **known).table)
    with pytest.raises(StaleFileError, match="bytes and had 5"):
        MemoryMappedTable.from_file(path, num_bytes=5)
    assert len(table.table) == 1000  # what is mapped stays as it was


def test_ten_thousand_slices_are_one_slice_when_pickled_and_opened_again(path):
    table = sliced = MemoryMappedTable.from_file(path)
    for i in range(10_000):
        sliced = sliced.slice(i % 25 == 0, 1000)
    pickled = pickle.dumps(sliced)
    assert len(pickled) < 1000
    opened = pickle.loads(pickled)
    assert opened.row(0)["n"] == 400
    assert opened.num_rows == 600
    assert opened.replays == [("slice", (400, 600))]
    assert opened == table.slice(400)


def test_operations_that_follow_one_another_are_merged(path):
    table = MemoryMappedTable.from_file(path)
    assert table.select(["n", "path"]).select(["path", "n"]).select([1]).replays == [("select", ((2,),))]
    assert table.drop(["text"]).remove_column(0).replays == [("select", ((2,),))]
    assert table.rename_columns(["a", "b", "c"]).rename_columns({"a": "z"}).replays == [
        ("rename_columns", (("z", "b", "c"),))
    ]
    metadata = table.replace_schema_metadata({"a": "1"}).replace_schema_metadata({"b": "2"})
    assert metadata.replays == [("replace_schema_metadata", (((b"b", b"2"),),))]
    assert table.combine_chunks().combine_chunks().replays == [("combine_chunks", ())]
    assert [name for name, _ in table.select(["n"]).slice(3).select(["n"]).slice(4).replays] == ["select", "slice"]
    mask = pa.array([True] * 500 + [False] * 500)
    chain = table.slice(1).slice(1).filter(mask.slice(2)).slice(1).slice(1)
    assert [name for name, _ in chain.replays] == ["slice", "filter", "slice"]


def test_a_cast_after_a_cast_is_one_only_where_that_is_equal(path):
    n = MemoryMappedTable.from_file(path).select(["n"])

    def casts(*types):
        table = n
        for data_type in types:
            table = table.cast(pa.schema([("n", data_type)]))
        for same in (table, pickle.loads(pickle.dumps(table))):
            assert same.schema.types == [types[-1]]
            assert same.table.slice(7, 1).to_pylist() == table.to_pylist()[7:8]
        return [arguments[0].types[0] for name, arguments in table.replays if name == "cast"]

    assert casts(pa.int64(), pa.int32()) == [pa.int32()]
    assert casts(pa.float64(), pa.float64()) == [pa.float64()]
    assert casts(pa.float64(), pa.string()) == [pa.float64(), pa.string()]  # "7" is not "7.0"
    assert casts(pa.int16(), pa.int32()) == [pa.int16(), pa.int32()]  # int16 would have refused 100,000
    assert casts(pa.int16(), pa.int64(), pa.int32()) == [pa.int16(), pa.int32()]
    assert casts(pa.uint16(), pa.int32(), pa.int16()) == [pa.uint16(), pa.int16()]


def test_data_enters_a_replay_only_as_far_as_the_user_added_it(path):
    table = MemoryMappedTable.from_file(path)
    column = pa.array(range(1000), pa.int64())
    added = table.slice(900).append_column("m", column.slice(900))
    (_, _), (name, (position, data)) = added.replays
    assert (name, position) == ("add_column", 3)
    assert pa.ipc.open_stream(data).read_all().to_pydict() == {"m": list(range(900, 1000))}
    assert len(pickle.dumps(added)) < 2500
    assert pickle.loads(pickle.dumps(added)).column("m").to_pylist() == list(range(900, 1000))
    filtered = table.filter(pc.field("n") >= 990)
    assert len(pickle.dumps(filtered)) < 1500
    assert pickle.loads(pickle.dumps(filtered)) == PLAIN.slice(990)


def test_a_column_that_was_added_can_be_handed_out_of_band(path):
    added = MemoryMappedTable.from_file(path).append_column("m", pa.array(range(1000), pa.int64()))
    buffers = []
    pickled = pickle.dumps(added, protocol=5, buffer_callback=buffers.append)
    assert len(pickled) < 1000
    assert pickle.loads(pickled, buffers=buffers) == added


@pytest.mark.parametrize(
    "replays",
    [
        [("__class__", ())],
        [("to_pandas", ())],
        [("slice", (0, 5)), ("apply", (print,))],
        [("slice", (0, 5), {})],
        [(len, ())],
        ["slice"],
        ("slice", (0, 5)),
        [("add_column", (0, b"no arrow"))],
        [("add_column", (0, "text"))],
        [("filter", (7, "drop"))],
        [("select", (0, 1, 2))],
    ],
    ids=str,
)
def test_a_state_that_names_anything_but_a_known_operation_is_refused(path, replays):
    table = MemoryMappedTable.from_file(path)
    state = {**table.__getstate__(), "replays": replays}
    with pytest.raises(StateError):
        MemoryMappedTable.__new__(MemoryMappedTable).__setstate__(state)


def test_a_state_of_something_else_is_refused(path):
    state = MemoryMappedTable.from_file(path).__getstate__()
    for wrong in ({}, None, {**state, "file": (7, SCHEMA, 1, 1)}, {**state, "schema": "n: int64"}):
        with pytest.raises(StateError, match="not the state of a MemoryMappedTable"):
            MemoryMappedTable.__new__(MemoryMappedTable).__setstate__(wrong)


def test_wrong_operations_are_errors_at_once_even_where_the_file_is_not_open(tmp_path):
    table = MemoryMappedTable.from_file(tmp_path / "later.arrow", schema=SCHEMA, num_rows=1000)
    with pytest.raises(KeyError, match="no columns are named 'm'"):
        table.select(["m"])
    with pytest.raises(SchemaError, match="n"):
        table.cast(pa.schema([("path", pa.string()), ("text", pa.string())]))
    with pytest.raises(ValueError, match="999 values does not fit a table of 1000 rows"):
        table.append_column("m", list(range(999)))
    with pytest.raises(ValueError, match="999 values does not fit a table of 1000 rows"):
        table.filter([True] * 999)


def test_a_deepcopy_shares_the_mapping(path):
    table = MemoryMappedTable.from_file(path)
    copied = copy.deepcopy(table)
    assert copied is not table
    assert copied.table is table.table
    assert copied.path == table.path


def test_another_process_sees_the_same_table(path):
    table = MemoryMappedTable.from_file(path).slice(3, 7).select(["n", "path"])
    code = (
        "import pickle, sys; table = pickle.load(sys.stdin.buffer);"
        "sys.stdout.buffer.write(pickle.dumps((table.to_pydict(), table.replays)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(table), capture_output=True, check=True, cwd=Path.cwd(),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    assert pickle.loads(run.stdout) == (table.to_pydict(), table.replays)


def test_mapped_files_are_not_kept_open(tmp_path):
    descriptors = Path("/proc/self/fd")
    opened = len(list(descriptors.iterdir()))
    tables = [MemoryMappedTable.from_file(write(tmp_path / f"{i}.arrow", PLAIN.slice(i, 3))) for i in range(50)]
    assert len(list(descriptors.iterdir())) <= opened + 1
    assert [table.num_rows for table in tables] == [3] * 50
