from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.errors import SchemaError
from raydata_ext.table.evolving_writer import EvolvingShardWriter
from raydata_ext.table.ipc_reader import open_ipc_file
from raydata_ext.table.ipc_writer import ShardWriter
from raydata_ext.table.metadata import features_from_schema, with_huggingface_metadata
from raydata_ext.table.unify import unify_schemas
from raydata_ext.table.verify import verify_ipc_file

INT = pa.int64()
X = {"a": "x", "b": None}


def batch(**columns):
    return pa.record_batch(columns)


def write(path, batches, **options):
    with EvolvingShardWriter(path, **options) as writer:
        for each in batches:
            writer.write(each)
        return writer.finish()


def names(directory):
    return sorted(path.name for path in directory.iterdir())


def test_batches_of_one_schema_make_the_file_that_a_shard_writer_makes(tmp_path):
    batches = [batch(n=[1, 2], s=["a", None]), batch(n=[3], s=["b"])]

    with ShardWriter(tmp_path / "a.arrow", batches[0].schema) as writer:
        for each in batches:
            writer.write(each)
        expected = writer.finish()

    assert write(tmp_path / "b.arrow", batches) == expected


@pytest.mark.parametrize(
    ("batches", "rows"),
    [
        ([batch(a=[1]), batch(a=[2], b=["x"])], [{"a": 1, "b": None}, {"a": 2, "b": "x"}]),
        ([batch(a=[1], b=["x"]), batch(a=[2])], [{"a": 1, "b": "x"}, {"a": 2, "b": None}]),
        ([batch(a=pa.nulls(1)), batch(a=[{"k": 1}])], [{"a": None}, {"a": {"k": 1}}]),
        ([batch(a=[1]), batch(a=[2.5])], [{"a": 1.0}, {"a": 2.5}]),
        ([batch(a=[2.5]), batch(a=[1])], [{"a": 2.5}, {"a": 1.0}]),
        ([batch(a=[{"x": 1}]), batch(a=[{"y": 2}])], [{"a": {"x": 1, "y": None}}, {"a": {"x": None, "y": 2}}]),
        ([batch(a=pa.array([[]])), batch(a=[["x"]])], [{"a": []}, {"a": ["x"]}]),
        ([batch(a=[1], b=[2]), batch(b=[3], a=[4])], [{"a": 1, "b": 2}, {"a": 4, "b": 3}]),
        ([batch(a=pa.nulls(1, INT)), batch(a=[None]), batch(a=["x"])], [{"a": None}, {"a": None}, {"a": "x"}]),
        ([batch(a=["x"]), batch(a=pa.nulls(1, INT))], [{"a": "x"}, {"a": None}]),
        ([batch(a=pa.array([[]], pa.list_(INT))), batch(a=[["x"]])], [{"a": []}, {"a": ["x"]}]),
        ([batch(a=pa.nulls(1, INT)), batch(b=[1]), batch(a=["x"])], [{"a": None, "b": None}, {"a": None, "b": 1}, X]),
    ],
    ids=[
        "new",
        "missing",
        "null",
        "int to float",
        "float then int",
        "struct fields",
        "empty lists",
        "other order",
        "typed nulls",
        "typed nulls last",
        "typed empty lists",
        "typed nulls and a missing column",
    ],
)
def test_the_schema_grows_to_hold_every_batch(tmp_path, batches, rows):
    summary = write(tmp_path / "a.arrow", batches)

    assert open_ipc_file(tmp_path / "a.arrow").to_pylist() == rows
    assert summary == verify_ipc_file(tmp_path / "a.arrow")
    assert names(tmp_path) == ["a.arrow"]


def test_a_schema_that_grew_makes_the_same_file_as_one_known_from_the_start(tmp_path):
    batches = [batch(a=[1, 2, 3]), batch(a=[1.5]), batch(a=[4], b=["x"]), batch(b=["y"]), batch(a=[5])]
    unified = unify_schemas(each.schema for each in batches)

    assert write(tmp_path / "a.arrow", batches, batch_rows=2) == write(
        tmp_path / "b.arrow", batches, schema=unified, batch_rows=2
    )


@given(
    st.lists(
        st.lists(
            st.dictionaries(
                st.sampled_from(["a", "b", "c"]),
                st.none() | st.integers(-9, 9) | st.floats(-9, 9),
                min_size=1,
            ),
            min_size=1,
            max_size=5,
        ),
        min_size=1,
        max_size=6,
    ),
    st.integers(1, 7),
)
@settings(max_examples=60, deadline=None)
def test_the_rows_are_those_that_went_in_whatever_the_columns_of_each_batch(tmp_path_factory, groups, batch_rows):
    path = tmp_path_factory.mktemp("files") / "a.arrow"
    groups = [[{name: row.get(name) for name in groups_names(rows)} for row in rows] for rows in groups]
    batches = [pa.RecordBatch.from_pylist(rows) for rows in groups]

    first = write(path, batches, batch_rows=batch_rows)
    second = write(path, batches, batch_rows=batch_rows)

    assert first == second
    columns = open_ipc_file(path).column_names
    assert open_ipc_file(path).to_pylist() == [
        {name: row.get(name) for name in columns} for rows in groups for row in rows
    ]


def groups_names(rows):
    return list(dict.fromkeys(name for row in rows for name in row))


def test_metadata_is_written_for_the_schema_that_the_file_ends_up_with(tmp_path):
    summary = write(tmp_path / "a.arrow", [batch(a=[1]), batch(a=[1.5], b=[["x"]])], metadata=with_huggingface_metadata)

    assert open_ipc_file(tmp_path / "a.arrow").schema.equals(summary.schema, check_metadata=True)
    assert summary.schema.metadata == with_huggingface_metadata(summary.schema.remove_metadata()).metadata
    assert features_from_schema(summary.schema)["b"]["_type"] == "List"


def test_a_conflict_names_the_column_path_and_both_types_and_the_file_goes_on(tmp_path):
    with EvolvingShardWriter(tmp_path / "a.arrow") as writer:
        writer.write(batch(a=[{"b": [1]}]))
        with pytest.raises(SchemaError, match=r"`a\.b\[\]` is int64 in one place and string in another"):
            writer.write(batch(a=[{"b": ["x"]}]))
        writer.write(batch(a=[{"b": [2]}]))

    assert open_ipc_file(tmp_path / "a.arrow").to_pylist() == [{"a": {"b": [1]}}, {"a": {"b": [2]}}]


def test_a_type_that_a_value_has_shown_stands_whatever_came_before(tmp_path):
    with EvolvingShardWriter(tmp_path / "a.arrow") as writer:
        writer.write(batch(a=pa.nulls(1, INT)))
        writer.write(batch(a=[1]))
        with pytest.raises(SchemaError, match=r"`a` is int64 in one place and string in another"):
            writer.write(batch(a=["x"]))


def test_an_integer_that_a_later_float_column_cannot_hold_is_an_error_that_names_the_column(tmp_path):
    with EvolvingShardWriter(tmp_path / "a.arrow") as writer:
        writer.write(batch(a=[2**60 + 1]))
        writer.write(batch(a=[1.5]))
        with pytest.raises(SchemaError, match=r"`a` cannot be cast from int64 to double"):
            writer.finish()

    assert names(tmp_path) == []


def test_no_rows_make_an_empty_file_if_a_schema_is_given(tmp_path):
    schema = pa.schema({"n": pa.int64()})

    with EvolvingShardWriter(tmp_path / "a.arrow") as writer:
        assert writer.finish(schema_if_empty=schema).schema == schema
    assert write(tmp_path / "b.arrow", [], schema=schema).rows == 0
    assert open_ipc_file(tmp_path / "a.arrow").schema == open_ipc_file(tmp_path / "b.arrow").schema == schema


def test_no_rows_and_no_schema_is_an_error_and_leaves_nothing(tmp_path):
    with pytest.raises(SchemaError, match=r"a\.arrow: no rows and no schema; pass a schema"):
        write(tmp_path / "a.arrow", [])

    assert names(tmp_path) == []


def test_an_exception_in_the_block_leaves_nothing_of_any_schema(tmp_path):
    def fail_halfway():
        with EvolvingShardWriter(tmp_path / "a.arrow") as writer:
            writer.write(batch(a=[1]))
            writer.write(batch(a=[1.5]))
            writer.write(batch(a=[1.5], b=[1]))
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        fail_halfway()

    assert names(tmp_path) == []


def test_writing_to_a_closed_writer_says_so(tmp_path):
    writer = EvolvingShardWriter(tmp_path / "a.arrow", schema=pa.schema({"n": pa.int64()}))
    writer.finish()
    writer.discard()

    for action in (lambda: writer.write(batch(n=[1])), writer.finish):
        with pytest.raises(ValueError, match=r"a\.arrow: cannot write, the writer is finished"):
            action()
    assert names(tmp_path) == ["a.arrow"]


def test_a_disk_that_fills_up_while_rows_are_written_once_more_leaves_nothing(tmp_path):
    code = """
import resource, sys, pyarrow as pa
from raydata_ext.errors import WriteError
from raydata_ext.table.evolving_writer import EvolvingShardWriter
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
writer = EvolvingShardWriter(sys.argv[1])
writer.write(pa.record_batch({"n": pa.array(range(90_000), pa.int64())}))
writer.write(pa.record_batch({"n": pa.array([0.5] * 90_000)}))
try:
    writer.finish()
except WriteError as error:
    print(error.errno)
"""
    run = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "a.arrow"],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )

    assert (run.stdout, run.stderr) == (f"{errno.EFBIG}\n", "")
    assert names(tmp_path) == []
