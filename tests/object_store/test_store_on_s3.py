"""Results in an object store, from nodes with disks of their own."""

from __future__ import annotations

import pickle
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest
import s3fs

from raydata_ext.errors import ReadError, StoreError
from raydata_ext.sources import list_files, scan_files
from raydata_ext.store import Receipt, Retries, Store
from raydata_ext.table.ipc_writer import ShardWriter

KEYS = [f"{number:02x}" * 16 for number in range(10)]


QUICK = Retries(attempts=6, first_pause=0.01)


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


def test_a_data_set_larger_than_the_local_disk_is_read_shard_by_shard(bucket: str, tmp_path: Path) -> None:
    writer = Store.open(f"{bucket}/cache", local_dir=tmp_path / "one")
    receipts = [write_entry(writer, number) for number in range(10)]
    room = 3 * receipts[0].num_bytes
    reader = Store.open(f"{bucket}/cache", local_dir=tmp_path / "two", max_local_bytes=room)
    for number, receipt in enumerate(receipts):
        assert reader.table(receipt).table == table(number)
        assert sum(path.stat().st_size for path in (tmp_path / "two").glob("*.arrow")) <= room
    assert copies(tmp_path / "two") == KEYS[7:]
    held = [reader.local_path(receipt) for receipt in receipts[:3]]
    with pytest.raises(StoreError, match=r"no room for .* hold on to fewer rows"):
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
    with pytest.raises(StoreError, match=r"writing s3://no-such-bucket/cache/.*; make the bucket first"):
        write_entry(store, 0)
    assert not s3.exists("no-such-bucket")


def test_wrong_and_missing_credentials_are_said_at_once(
    guarded_bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.open(f"{guarded_bucket}/cache", local_dir=tmp_path / "one")
    with pytest.raises(StoreError, match=r"listing .*/cache/.*: not allowed \(.*; check the credentials"):
        store.find(KEYS[:1])
    with pytest.raises(StoreError, match=r"writing .*/cache/.*: not allowed"):
        write_entry(store, 0)
    with pytest.raises(ReadError, match=r"listing .*/\*\.txt: not allowed \(.*; check the credentials"):
        list_files(f"{guarded_bucket}/*.txt")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    s3fs.S3FileSystem.clear_instance_cache()
    store = Store.open(f"{guarded_bucket}/cache", local_dir=tmp_path / "one")
    with pytest.raises(StoreError, match=r"not allowed \(Unable to locate credentials\)"):
        store.find(KEYS[:1])
    with pytest.raises(ReadError, match="Unable to locate credentials"):
        list_files(f"{guarded_bucket}/*.txt")


def test_every_third_request_may_fail(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flaky_s3) -> None:
    first, second = (Store.open(f"{bucket}/cache", local_dir=tmp_path / node, retries=QUICK) for node in ("one", "two"))
    receipts = [write_entry(first, number) for number in range(4)]
    assert second.find(KEYS) == {receipt.key: receipt for receipt in receipts}
    assert [second.table(receipt).table for receipt in receipts] == [table(number) for number in range(4)]
    fsspec.filesystem("s3").pipe(f"{bucket}/c/a.txt", b"a\nb\n")
    rows = [batch.to_pylist() for shard in scan_files(f"{bucket}/c").shards for _, batch in shard.read()]
    assert rows == [[{"text": "a"}, {"text": "b"}]]
    assert flaky_s3.failed > 10
