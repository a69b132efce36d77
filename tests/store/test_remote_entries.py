from __future__ import annotations

import math
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from raydata_ext.errors import CorruptFileError, NoRoomError, StoreError
from raydata_ext.remote import Retries
from raydata_ext.store import remote_entries
from raydata_ext.store.store import Store
from raydata_ext.table import concat_tables

KEY = "0123456789abcdef0123456789abcdef"


class FlakyFileSystem(MemoryFileSystem):
    """Memory behind a bad line: the next `failures` requests fail, then all is well."""

    protocol = "flaky"
    failures = 0
    requests = 0

    @classmethod
    def _strip_protocol(cls, path):
        return MemoryFileSystem._strip_protocol(str(path).replace("flaky://", "memory://"))

    def _request(self):
        FlakyFileSystem.requests += 1
        if FlakyFileSystem.failures > 0:
            FlakyFileSystem.failures -= 1
            raise ConnectionResetError("connection reset by peer")

    def ls(self, path, detail=True, **kwargs):
        self._request()
        return super().ls(path, detail, **kwargs)

    def cat_file(self, path, start=None, end=None, **kwargs):
        self._request()
        return super().cat_file(path, start, end, **kwargs)

    def put_file(self, lpath, rpath, **kwargs):
        self._request()
        return super().put_file(lpath, rpath, **kwargs)

    def pipe_file(self, path, value, **kwargs):
        self._request()
        return super().pipe_file(path, value, **kwargs)

    def _open(self, path, mode="rb", **kwargs):
        if mode == "rb":
            self._request()
        return super()._open(path, mode, **kwargs)


fsspec.register_implementation("flaky", FlakyFileSystem, clobber=True)


@pytest.fixture
def url():
    url = f"flaky://remote-entries-{os.getpid()}/cache"
    FlakyFileSystem.failures = 0
    yield url
    FlakyFileSystem.failures = 0
    memory = fsspec.filesystem("memory")
    if memory.exists(url.replace("flaky", "memory")):
        memory.rm(url.replace("flaky", "memory"), recursive=True)


@pytest.fixture
def open_store(url, tmp_path):
    """A function that opens the store as a machine of this name sees it."""

    def open_it(machine="one", **options):
        retries = Retries(attempts=4, first_pause=0.0)
        return Store.open(url, local_dir=tmp_path / machine, retries=retries, **options)

    return open_it


@pytest.fixture
def store(open_store):
    return open_store()


def objects(url):
    memory, path = fsspec.core.url_to_fs(url.replace("flaky", "memory"))
    return sorted(name.removeprefix(path + "/") for name in memory.find(path))


def test_an_entry_of_one_machine_is_read_on_another(open_store, write_entry, table):
    published = write_entry(open_store("one"), KEY)
    other = open_store("two")
    assert other.find([KEY]) == {KEY: published}
    assert other.table(published).to_pylist() == table.to_pylist()


def test_the_objects_are_named_by_key_and_content(store, url, write_entry):
    receipt = write_entry(store, KEY)
    assert objects(url) == [f"01/{KEY}-{receipt.checksum}.arrow", f"01/{KEY}.json"]


def test_the_machine_that_wrote_an_entry_does_not_fetch_it(store, write_entry, table):
    receipt = write_entry(store, KEY)
    before = FlakyFileSystem.requests
    assert store.table(receipt).to_pylist() == table.to_pylist()
    assert FlakyFileSystem.requests == before


def test_an_object_is_fetched_once(open_store, write_entry):
    receipt = write_entry(open_store("one"), KEY)
    other = open_store("two")
    path = other.local_path(receipt)
    before = FlakyFileSystem.requests
    assert other.local_path(receipt) == path
    other.release(receipt)
    other.release(receipt)
    assert not Path(path).exists()
    assert other.local_path(receipt) == path
    assert FlakyFileSystem.requests == before


def test_many_entries_are_fetched_at_once(open_store, write_entry, key_of, table):
    receipts = [write_entry(open_store("one"), key_of(index)) for index in range(30)]
    other = open_store("two")
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(other.local_path, receipts))
    assert len(set(paths)) == 30
    assert all(pa.ipc.open_stream(path).read_all().to_pylist() == table.to_pylist() for path in paths)


def test_a_lookup_of_many_keys_lists_each_directory_once(store, write_entry, key_of):
    keys = [key_of(index) for index in range(64)]
    for key in keys[::2]:
        write_entry(store, key)
    before = FlakyFileSystem.requests
    assert list(store.find(keys)) == keys[::2]
    directories = len({key[:2] for key in keys})
    assert FlakyFileSystem.requests - before == directories + len(keys[::2])
    assert sorted(store.keys()) == sorted(keys[::2])


def test_an_entry_is_found_at_once_by_a_store_that_looked_before(open_store, write_entry):
    other = open_store("two")
    assert other.get(KEY) is None
    receipt = write_entry(open_store("one"), KEY)
    assert other.get(KEY) == receipt


def test_requests_that_fail_for_a_while_are_repeated(open_store, url, write_entry, table):
    store = open_store("one")
    FlakyFileSystem.failures = 3
    receipt = write_entry(store, KEY)
    other = open_store("two")
    FlakyFileSystem.failures = 3
    assert other.get(KEY) == receipt
    FlakyFileSystem.failures = 3
    assert other.table(receipt).to_pylist() == table.to_pylist()
    assert FlakyFileSystem.failures == 0


def test_requests_that_go_on_failing_are_a_store_error_with_the_place(open_store, write_entry):
    receipt = write_entry(open_store("one"), KEY)
    other = open_store("two")
    for action in (
        lambda: other.get(KEY),
        lambda: other.table(receipt).row(0),
        lambda: write_entry(other, KEY[:-1] + "0"),
    ):
        FlakyFileSystem.failures = 10**6
        with pytest.raises(StoreError, match=r"flaky://.* failed 4 times, last with ConnectionResetError"):
            action()


def test_a_file_whose_receipt_could_not_be_written_is_no_result(store, url, write_entry):
    write_entry(store, KEY)
    memory, path = fsspec.core.url_to_fs(f"{url.replace('flaky', 'memory')}/01/{KEY}.json")
    memory.rm_file(path)
    assert store.get(KEY) is None
    assert store.get(write_entry(store, KEY).key) is not None


def change_object(url, name, change):
    memory, path = fsspec.core.url_to_fs(f"{url.replace('flaky', 'memory')}/{name}")
    memory.pipe_file(path, change(memory.cat_file(path)))


def test_a_truncated_object_is_a_miss_with_a_warning(store, url, write_entry, warnings):
    receipt = write_entry(store, KEY)
    change_object(url, f"01/{receipt.file_name}", lambda data: data[:-1])
    assert store.get(KEY) is None
    assert "will be computed again" in warnings()[0]
    write_entry(store, KEY)
    store.verify(store.get(KEY))


def test_an_object_with_a_flipped_byte_is_never_mapped(open_store, url, write_entry, table):
    store = open_store("one")
    receipt = write_entry(store, KEY)
    change_object(url, f"01/{receipt.file_name}", lambda data: data[:-30] + bytes([data[-30] ^ 1]) + data[-29:])
    other = open_store("two")
    with pytest.raises(CorruptFileError, match=r"flaky://.*\.arrow: what was fetched is not .*: make it anew"):
        other.table(receipt).row(0)
    with pytest.raises(CorruptFileError, match="checksum"):
        other.verify(receipt)
    other.discard(KEY)
    assert other.get(KEY) is None
    assert objects(url) == []
    assert other.table(write_entry(other, KEY)).to_pylist() == table.to_pylist()


def test_an_object_that_was_deleted_after_the_lookup_says_so(open_store, write_entry):
    receipt = write_entry(open_store("one"), KEY)
    other = open_store("two")
    other.discard(KEY)
    with pytest.raises(StoreError, match="was deleted since it was looked up"):
        other.table(receipt).row(0)


def test_writers_with_other_bytes_do_not_mix(open_store, write_entry):
    first = write_entry(open_store("one"), KEY, pa.table({"n": [1, 2]}))
    second = write_entry(open_store("two"), KEY, pa.table({"n": [3, 4]}))
    third = open_store("three")
    assert third.get(KEY) == second
    assert third.table(second).to_pydict() == {"n": [3, 4]}
    assert third.table(first).to_pydict() == {"n": [1, 2]}


def test_local_copies_are_bounded(open_store, write_entry, key_of, table):
    receipts = [write_entry(open_store("one"), key_of(index)) for index in range(6)]
    other = open_store("two", max_local_bytes=3 * receipts[0].num_bytes)
    for receipt in receipts:
        assert other.table(receipt).to_pylist() == table.to_pylist()
    assert len(list(other.files.copies.path.glob("*.arrow"))) == 3


def test_a_table_fetches_nothing_before_its_rows_are_looked_at(open_store, write_entry, table):
    receipt = write_entry(open_store("one"), KEY)
    other = open_store("two")
    lazy = other.table(receipt).select(["n"]).slice(1, 1)
    assert (lazy.num_rows, lazy.column_names) == (1, ["n"])
    assert not other.files.copies.path.exists()
    assert lazy.to_pylist() == [{"n": 2}]
    assert other.files.copies.path.exists()


def test_a_table_travels_as_a_recipe_and_is_copied_where_its_rows_are_looked_at(
    url, write_entry, table, tmp_path, monkeypatch
):
    monkeypatch.setenv("RAYDATA_EXT_LOCAL_DIR", str(tmp_path / "one"))
    store = Store.open(url)
    sent = pickle.dumps(store.table(write_entry(store, KEY)))
    monkeypatch.setenv("RAYDATA_EXT_LOCAL_DIR", str(tmp_path / "two"))
    assert pickle.loads(sent).to_pylist() == table.to_pylist()
    assert len(list((tmp_path / "two").glob("*.arrow"))) == 1


def test_a_copy_is_in_use_as_long_as_rows_of_it_are_held(open_store, write_entry, key_of, table):
    receipts = [write_entry(open_store("one"), key_of(index)) for index in range(2)]
    other = open_store("two", max_local_bytes=receipts[0].num_bytes)
    batch = next(other.table(receipts[0]).iter_batches())
    with pytest.raises(NoRoomError, match=r"no room for .*RAYDATA_EXT_MAX_LOCAL_BYTES"):
        other.local_path(receipts[1])
    assert batch.to_pylist() == table.to_pylist()
    del batch
    assert other.table(receipts[1]).to_pylist() == table.to_pylist()


def test_rows_anywhere_in_more_files_than_there_is_room_for_are_read(open_store, write_entry, key_of):
    tables = [pa.table({"n": range(10 * index, 10 * index + 10)}) for index in range(8)]
    receipts = [write_entry(open_store("one"), key_of(index), one) for index, one in enumerate(tables)]
    other = open_store("two", max_local_bytes=3 * receipts[0].num_bytes)
    joined = concat_tables([other.table(receipt) for receipt in receipts])
    for start in (0, 40, 10, 70, 20, 0):
        assert joined.row(start) == {"n": start}
        assert joined.fast_gather([start + 3, start + 1]).to_pydict() == {"n": [start + 3, start + 1]}
    everywhere = [79, 0, 41, 40, 12, 79, 33]
    assert joined.fast_gather(everywhere).to_pydict() == {"n": everywhere}
    assert joined.fast_slice(5, 70).to_pydict() == {"n": list(range(5, 75))}
    assert [row["n"] for batch in joined.iter_batches() for row in batch.to_pylist()] == list(range(80))
    assert joined.rename_columns(["m"]).row(79) == {"m": 79}


def test_a_store_can_be_sent_to_another_process(store, write_entry, table):
    receipt = write_entry(store, KEY)
    again = pickle.loads(pickle.dumps(store))
    assert again.get(KEY) == receipt
    assert again.table(receipt).to_pylist() == table.to_pylist()


def test_a_copy_of_the_objects_in_a_directory_is_full_of_hits(store, url, write_entry, tmp_path, key_of, table):
    receipts = [write_entry(store, key_of(index)) for index in range(5)]
    memory, path = fsspec.core.url_to_fs(url.replace("flaky", "memory"))
    memory.get(path, str(tmp_path / "copy"), recursive=True)
    copy = Store.open(tmp_path / "copy")
    assert list(copy.find(receipt.key for receipt in receipts)) == [receipt.key for receipt in receipts]
    assert copy.table(receipts[0]).to_pylist() == table.to_pylist()


@pytest.mark.parametrize(
    ("info", "modified"),
    [
        ({"LastModified": datetime(2024, 1, 1, tzinfo=timezone.utc)}, 1704067200.0),
        ({"mtime": 5}, 5.0),
        ({"updated": "2024-01-01T00:00:00.000Z"}, 1704067200.0),
        ({"created": 7.5}, 7.5),
        ({"updated": "yesterday"}, math.inf),
        ({}, math.inf),
    ],
)
def test_the_time_of_an_object_is_read_from_whatever_its_store_tells(info, modified):
    assert remote_entries._modified(info) == modified


def test_nothing_is_found_under_a_url_where_nothing_is(store):
    assert store.find([KEY]) == {}
    assert list(store.keys()) == []
    store.discard(KEY)


def test_secrets_among_the_storage_options_are_not_shown(tmp_path):
    store = Store.open("s3://bucket/cache", local_dir=tmp_path, storage_options={"secret": "hunter2"})
    assert "hunter2" not in repr(store)
