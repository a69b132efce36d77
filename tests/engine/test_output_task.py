"""One file of an output."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from raydata_ext.engine import OutputTask, Program, Worker
from raydata_ext.engine.output_task import count_tokens
from raydata_ext.errors import SchemaError
from raydata_ext.plan import Chain, TableShard
from raydata_ext.store import Store, open_directory
from raydata_ext.table import InMemoryTable
from raydata_ext.table.verify import verify_ipc_file


@pytest.fixture
def worker(tmp_path):
    return Worker(Program(Chain.of(()), Store.open(tmp_path / "cache")))


def shard(columns):
    return TableShard(InMemoryTable(pa.table(columns)))


def test_shards_stand_one_after_the_other_under_the_schema_of_the_whole(worker, tmp_path):
    path = str(tmp_path / "data-00000-of-00001.arrow")
    schema = pa.schema({"n": pa.float64(), "input_ids": pa.list_(pa.int32())})
    shards = (
        shard({"n": [1, 2]}),
        shard({"n": pa.array([], pa.string()), "other": pa.array([], pa.int8())}),
        shard({"input_ids": [[1, 2], [3], None], "n": [0.5, None, 1.5]}),
    )
    written = OutputTask(open_directory(tmp_path), Path(path).name, shards, schema).run(worker)
    with pa.memory_map(path) as source:
        table = pa.ipc.open_stream(source).read_all()
    assert table.schema == schema
    assert table.to_pydict() == {"n": [1, 2, 0.5, None, 1.5], "input_ids": [None, None, [1, 2], [3], None]}
    assert written.tokens == 3
    assert (written.file.name, written.file.rows) == ("data-00000-of-00001.arrow", 5)
    verify_ipc_file(path, checksum=written.file.checksum, num_bytes=written.file.num_bytes)


def test_a_failure_leaves_the_old_file(worker, tmp_path):
    path = tmp_path / "data.arrow"
    path.write_bytes(b"old")
    task = OutputTask(open_directory(tmp_path), path.name, (shard({"n": ["x"]}),), pa.schema({"n": pa.int64()}))
    with pytest.raises(SchemaError, match="`n`"):
        task.run(worker)
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["data.arrow"]


@pytest.mark.parametrize(
    ("columns", "tokens"),
    [
        ({"input_ids": [[1, 2], [3]], "labels": [[1], [2]]}, 3),
        ({"tokens": pa.array([[1, 2], None], pa.large_list(pa.uint16())), "text": ["a", "b"]}, 2),
        ({"source": [[1], [2, 3]], "target": [[2], None]}, 4),
        ({"scores": [[0.5]], "n": [1]}, 0),
        ({"input_ids": pa.array([], pa.list_(pa.int32()))}, 0),
    ],
)
def test_tokens_are_the_elements_of_the_token_columns(columns, tokens):
    assert count_tokens(pa.record_batch(columns)) == tokens
