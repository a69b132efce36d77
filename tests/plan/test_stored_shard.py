"""Results as shards."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from raydata_ext.plan import StoredShard, TableShard
from raydata_ext.store import Receipt, Store
from raydata_ext.table.ipc_writer import ShardWriter

if TYPE_CHECKING:
    from pathlib import Path

KEY = "ab" * 16


@pytest.fixture
def shard(tmp_path: Path):
    def make(table: pa.Table) -> StoredShard:
        store = Store.open(tmp_path / "cache")
        with ShardWriter(store.writing_path(KEY), table.schema) as writer:
            for batch in table.to_batches():
                writer.write(batch)
            done = writer.finish()
        receipt = Receipt(
            key=KEY,
            rows=done.rows,
            num_bytes=done.num_bytes,
            checksum=done.checksum,
            schema=done.schema,
            inputs=({"path": "/c/a.txt"},),
        )
        return StoredShard(store, store.publish(receipt))

    return make


def test_it_is_the_same_content_as_the_mapped_table(shard) -> None:
    stored = shard(pa.table({"n": [1, 2, 3]}))
    mapped = TableShard.of_receipt(stored.store, stored.receipt)
    assert stored.identity(lambda _: None) == mapped.identity(lambda _: None)
    assert (stored.digest, stored.label, stored.num_rows, stored.num_bytes, stored.pieces) == (
        mapped.digest,
        mapped.label,
        mapped.num_rows,
        mapped.num_bytes,
        mapped.pieces,
    )


def test_it_is_read_where_it_travels_to(shard) -> None:
    stored = pickle.loads(pickle.dumps(shard(pa.table({"n": [1, 2, 3]}))))
    assert [(label, batch.to_pydict()) for label, batch in stored.read()] == [("/c/a.txt", {"n": [1, 2, 3]})]


def test_one_without_rows_still_has_its_schema(shard) -> None:
    schema = pa.schema([("n", pa.int8())])
    [(_, batch)] = shard(schema.empty_table()).read()
    assert batch.num_rows == 0
    assert batch.schema == schema
