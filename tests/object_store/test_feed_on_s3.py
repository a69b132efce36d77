"""A feed over shards in an object store: each node copies what it needs, before its turn, through a bad line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from raydata_ext.feed.plan import FeedPlan
from raydata_ext.feed.rank_batches import rank_batches
from raydata_ext.feed.share import Share
from raydata_ext.store import Receipt, Store
from raydata_ext.streaming import IterableDataset
from raydata_ext.table import ShardWriter

if TYPE_CHECKING:
    from pathlib import Path

SHARDS, ROWS, BATCH, LANES = 12, 50, 20, 4


def publish(store: Store, number: int) -> Receipt:
    """Write a shard of numbered rows."""
    key = f"{number:032x}"
    table = pa.table({"x": np.arange(number * ROWS, (number + 1) * ROWS)})
    with ShardWriter(store.writing_path(key), table.schema) as writer:
        for batch in table.to_batches(20):
            writer.write(batch)
        found = writer.finish()
    return store.publish(
        Receipt(key=key, rows=found.rows, num_bytes=found.num_bytes, checksum=found.checksum, schema=found.schema)
    )


def received(tables, world_size: int) -> dict[int, int]:
    """Row of each position."""
    stream = IterableDataset.from_tables(tables, fingerprint="numbered").shuffle(1, buffer_size=20)
    plan = FeedPlan.of(stream, global_batch_size=BATCH, num_lanes=LANES)
    found: dict[int, int] = {}
    for rank in range(world_size):
        for batch in rank_batches(plan.epoch(0), Share(rank, world_size, LANES, BATCH)):
            found |= dict(zip(batch.positions.tolist(), batch.rows.column("x").to_pylist(), strict=True))
    return found


def test_two_nodes_receive_the_rows_of_local_files_at_the_same_positions(bucket: str, tmp_path: Path) -> None:
    writer = Store.open(f"{bucket}/cache", local_dir=tmp_path / "writer")
    receipts = [publish(writer, number) for number in range(SHARDS)]
    expected = received([pa.table({"x": np.arange(n * ROWS, (n + 1) * ROWS)}) for n in range(SHARDS)], 1)
    assert sorted(expected.values()) == list(range(SHARDS * ROWS))
    reader = Store.open(f"{bucket}/cache", local_dir=tmp_path / "reader", max_local_bytes=8 * receipts[0].num_bytes)
    assert received([reader.table(receipt) for receipt in receipts], 2) == expected
    assert 0 < len(list((tmp_path / "reader").glob("*.arrow"))) <= 8 + 1
