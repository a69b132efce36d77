"""Results in an object store, from nodes with disks of their own."""

from __future__ import annotations

import pickle
from pathlib import Path

import pyarrow as pa
import pytest

from raydata_ext.errors import StoreError
from raydata_ext.store import Receipt, Retries, Store
from raydata_ext.table.ipc_writer import ShardWriter

KEYS = [f"{number:02x}" * 16 for number in range(10)]


def table(number: int) -> pa.Table:
    return pa.table({"n": range(number * 10_000, (number + 1) * 10_000)})


def write_entry(store: Store, number: int) -> Receipt:
    rows = table(number)
    with ShardWriter(store.writing_path(KEYS[number]), rows.schema) as writer:
        for batch in rows.to_batches():
            writer.write(batch)
        summary = writer.finish()
    receipt = Receipt(
        key=KEYS[number],
        rows=summary.rows,
        num_bytes=summary.num_bytes,
        checksum=summary.checksum,
        schema=summary.schema,
    )
    return store.publish(receipt)


def copies(directory: Path) -> list[str]:
    return sorted(path.name[:32] for path in directory.glob("*.arrow"))


def test_what_one_node_writes_another_finds_and_reads(bucket: str, tmp_path: Path) -> None:
    first, second = (Store.open(f"{bucket}/cache", local_dir=tmp_path / node) for node in ("one", "two"))
    receipts = [write_entry(first, number) for number in range(3)]
    assert second.find(KEYS) == {receipt.key: receipt for receipt in receipts}
    assert not (tmp_path / "two").exists()
    assert [second.table(receipt).table for receipt in receipts] == [table(number) for number in range(3)]
    assert copies(tmp_path / "two") == copies(tmp_path / "one") == KEYS[:3]


def test_a_data_set_larger_than_the_local_disk_is_read_where_shards_are_released(bucket: str, tmp_path: Path) -> None:
    writer = Store.open(f"{bucket}/cache", local_dir=tmp_path / "one")
    receipts = [write_entry(writer, number) for number in range(10)]
    room = 3 * receipts[0].num_bytes
    reader = Store.open(f"{bucket}/cache", local_dir=tmp_path / "two", max_local_bytes=room)
    for number, receipt in enumerate(receipts):
        assert reader.table(receipt).table == table(number)
        reader.release(receipt)
        assert sum(path.stat().st_size for path in (tmp_path / "two").glob("*.arrow")) <= room
    assert copies(tmp_path / "two") == KEYS[7:]
    held = [reader.local_path(receipt) for receipt in receipts[:3]]
    with pytest.raises(StoreError, match="no room for .* release shards that were read"):
        reader.local_path(receipts[3])
    assert all(Path(path).exists() for path in held)


def test_a_store_travels_to_another_process_without_its_connections(bucket: str, tmp_path: Path) -> None:
    store = Store.open(f"{bucket}/cache", local_dir=tmp_path / "one")
    receipt = write_entry(store, 0)
    again = pickle.loads(pickle.dumps(store))
    assert again.find(KEYS) == {KEYS[0]: receipt}


def test_an_entry_that_is_discarded_is_gone(bucket: str, tmp_path: Path, s3) -> None:
    store = Store.open(f"{bucket}/cache", local_dir=tmp_path / "one")
    receipt = write_entry(store, 0)
    store.verify(receipt)
    store.discard(KEYS[0])
    assert store.find(KEYS) == {}
    assert s3.find(f"{bucket}/cache") == []


def test_a_missing_bucket_is_named_and_not_tried_again(s3, tmp_path: Path) -> None:
    store = Store.open("s3://no-such-bucket/cache", local_dir=tmp_path, retries=Retries(attempts=2, first_pause=0))
    assert store.find(KEYS) == {}
    with pytest.raises(StoreError, match="no-such-bucket"):
        write_entry(store, 0)
