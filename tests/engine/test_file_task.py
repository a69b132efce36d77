"""What tasks that write files have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pyarrow as pa
import pytest

from raydata_ext.engine import FileTask, Program, batches_of
from raydata_ext.engine.watch import Watch
from raydata_ext.plan import TableShard
from raydata_ext.store import open_directory
from raydata_ext.table import InMemoryTable

SCHEMA = pa.schema({"n": pa.int64(), "text": pa.string()})


@dataclass(frozen=True, eq=False)
class Count(FileTask[int]):
    """Counts rows."""

    def run(self, worker):
        return sum(batch.num_rows for batch in self.batches())


def shard(**columns):
    return TableShard(InMemoryTable(pa.table(columns)))


def test_rows_come_under_one_schema_and_batches_without_rows_not_at_all():
    shards = [shard(n=pa.array([1, 2], pa.int8())), shard(odd=pa.array([], pa.int8())), shard(text=["a"], n=[3])]
    batches = list(batches_of(shards, SCHEMA))
    assert [batch.schema for batch in batches] == [SCHEMA, SCHEMA]
    assert pa.Table.from_batches(batches).to_pydict() == {"n": [1, 2, 3], "text": [None, None, "a"]}


def test_a_file_is_named_by_its_url_without_the_password():
    task = Count(open_directory("https://user:hush@host/out"), "a.arrow", (shard(n=[1]), shard(n=[2])), SCHEMA)
    assert task.path == "https://user:hush@host/out/a.arrow"
    assert task.label == "https://user:***@host/out/a.arrow"
    assert task.num_bytes == 16
    assert task.run(None) == 2


@pytest.mark.parametrize(
    ("shards", "home"),
    [
        ([("x", 3)], "x"),
        ([("x", 3), ("y", 5), ("x", 3)], "x"),
        ([("x", 3), ("y", 5), ("", 9)], "y"),
        ([("", 9)], ""),
        ([], ""),
    ],
)
def test_a_file_is_best_written_where_the_most_bytes_of_it_are(tmp_path, shards, home):
    parts = tuple(TableShard(InMemoryTable(pa.table({"n": range(rows)})), home=host) for host, rows in shards)
    assert Count(open_directory(tmp_path), "a.arrow", parts, SCHEMA).home == home


def test_after_a_death_the_work_is_simply_done_again(tmp_path):
    task = Count(open_directory(tmp_path), "a.arrow", (), SCHEMA)
    assert task.recover(cast("Program", None)) is None
    assert task.watched(Watch("", (), ())) is task
