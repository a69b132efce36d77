from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.plan import TableShard
from raydata_ext.table import MemoryMappedTable, ShardWriter

TABLE = pa.table({"a": pa.array([1, 2], pa.int64()), "b": ["x", "y"]})


@pytest.fixture
def table(tmp_path) -> MemoryMappedTable:
    with ShardWriter(tmp_path / "rows.arrow", TABLE.schema) as writer:
        writer.write(TABLE.to_batches()[0])
    return MemoryMappedTable.from_file(tmp_path / "rows.arrow")


def test_what_was_done_to_a_file_counts_and_equal_operations_count_the_same(table):
    described = TABLE.schema.with_metadata({"huggingface": '{"info": {"features": {}}}'})
    made = [
        lambda: table,
        lambda: table.rename_columns(["c", "b"]),
        lambda: table.rename_columns(["b", "c"]),
        lambda: table.select(["b", "a"]),
        lambda: table.select(["b"]),
        lambda: table.slice(1),
        lambda: table.slice(0, 1),
        lambda: table.cast(pa.schema([("a", pa.int32()), ("b", pa.string())])),
        lambda: table.cast(described),
        lambda: table.replace_schema_metadata({"a": "1"}),
        lambda: table.replace_schema_metadata({"a": "2"}),
    ]
    identities = [TableShard(make()).identity(lambda piece: "content") for make in made]
    assert len(set(identities)) == len(made)
    assert identities == [TableShard(make()).identity(lambda piece: "content") for make in made]


def test_without_the_content_of_the_file_there_is_no_identity(table):
    assert TableShard(table).identity(lambda piece: None) is None
    assert TableShard(table, ((table.path, "sum"),)).identity(lambda piece: None) is not None
