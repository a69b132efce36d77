from __future__ import annotations

import dataclasses
import fcntl
import os
import pickle
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pyarrow as pa
import pytest

from raydata_ext.errors import CorruptFileError, StaleFileError, StoreError, WriteError
from raydata_ext.store.receipt import Receipt
from raydata_ext.store.store import Store
from raydata_ext.store.verification import verify
from raydata_ext.table.ipc_writer import ShardWriter

KEY = "0123456789abcdef0123456789abcdef"
OTHER = "0123456789abcdef0123456789abcde0"


@pytest.fixture
def store(tmp_path):
    return Store.open(tmp_path / "cache")


def names(store):
    root = Path(store.files.root)
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def test_a_published_entry_is_found_with_its_rows(store, write_entry, table):
    published = write_entry(store, KEY, rows_in=5, filtered={"": 2})
    assert store.find([OTHER, KEY]) == {KEY: published}
    assert store.get(KEY) == published
    assert store.get(OTHER) is None
    assert store.table(published).to_pylist() == table.to_pylist()


def test_an_entry_is_two_files_named_by_the_key(store, write_entry):
    write_entry(store, KEY)
    assert names(store) == [f"01/{KEY}.arrow", f"01/{KEY}.json"]


def test_nothing_is_found_where_there_is_no_directory(store):
    assert store.find([KEY]) == {}
    assert list(store.keys()) == []
    store.discard(KEY)
    assert not Path(store.files.root).exists()


def test_many_keys_are_found_in_the_order_they_were_asked_for(store, write_entry, key_of):
    keys = [key_of(index) for index in range(60)]
    for key in keys[::2]:
        write_entry(store, key)
    asked = keys[::-1] + keys[:5]
    assert list(store.find(asked)) == [key for key in keys[::-1] if key in keys[::2]]
    assert sorted(store.keys()) == sorted(keys[::2])


def test_many_keys_of_one_directory_are_found(store, write_entry):
    keys = [f"ab{index:030x}" for index in range(40)]
    for key in keys[::2]:
        write_entry(store, key)
    assert list(store.find(keys)) == keys[::2]


@pytest.mark.parametrize("key", ["../../etc/passwd", "", "0" * 31, "A" * 32, "0" * 30 + "/."])
def test_a_key_that_could_be_a_path_is_refused_everywhere(store, key):
    for action in (store.get, store.writing_path, store.discard, lambda one: store.find([one])):
        with pytest.raises(ValueError, match="32 lower-case hex digits"):
            action(key)


def test_a_file_that_is_written_but_not_published_is_no_result(store, table):
    with ShardWriter(store.writing_path(KEY), table.schema) as writer:
        writer.write(table.to_batches()[0])
    assert store.get(KEY) is None
    assert list(store.keys()) == []


def test_publishing_what_was_not_written_is_refused(store, write_entry):
    receipt = write_entry(store, KEY)
    with pytest.raises(StoreError, match="no shard file to publish"):
        store.publish(dataclasses.replace(receipt, key=OTHER, file=""))


def test_publishing_a_file_of_another_size_is_refused(store, write_entry):
    receipt = write_entry(store, KEY)
    Path(store.writing_path(OTHER)).write_bytes(b"short")
    with pytest.raises(StoreError, match=r"has 5 bytes, but its receipt says \d+"):
        store.publish(dataclasses.replace(receipt, key=OTHER, file=""))
    assert store.get(OTHER) is None


def test_a_file_written_elsewhere_on_the_same_disk_can_be_published(store, write_entry, tmp_path, table):
    receipt = write_entry(store, KEY)
    shutil.copy(store.local_path(receipt), tmp_path / "mine.arrow")
    published = store.publish(dataclasses.replace(receipt, key=OTHER, file=""), tmp_path / "mine.arrow")
    assert store.table(published).to_pylist() == table.to_pylist()
    assert not (tmp_path / "mine.arrow").exists()


def test_a_table_opens_no_file_until_its_rows_are_touched(store, write_entry):
    receipt = write_entry(store, KEY)
    table = store.table(receipt)
    Path(store.local_path(receipt)).unlink()
    assert table.num_rows == 3
    assert table.schema == receipt.schema
    with pytest.raises((FileNotFoundError, StaleFileError)):
        table.to_pylist()


def test_publishing_the_same_bytes_again_keeps_one_file(store, write_entry):
    first = write_entry(store, KEY)
    second = write_entry(store, KEY, attempt=2)
    assert second.file == first.file
    assert store.get(KEY).attempt == 2
    assert names(store) == [f"01/{KEY}.arrow", f"01/{KEY}.json"]


def test_other_bytes_under_the_same_key_get_a_file_of_their_own(store, write_entry):
    old, new = pa.table({"n": [1, 2, 3]}), pa.table({"n": [4, 5, 6]})
    first = write_entry(store, KEY, old)
    second = write_entry(store, KEY, new)
    assert first.num_bytes == second.num_bytes
    assert store.get(KEY) == second
    assert store.table(first).to_pydict() == {"n": [1, 2, 3]}
    assert store.table(second).to_pydict() == {"n": [4, 5, 6]}
    store.verify(second)


def test_other_bytes_get_a_file_of_their_own_where_links_are_not_known(store, write_entry, monkeypatch):
    def no_links(source, target):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    receipt = write_entry(store, KEY)
    assert receipt.file == f"{KEY}-{receipt.checksum}.arrow"
    assert store.get(KEY) == receipt
    store.verify(receipt)


def test_an_orphan_with_the_same_bytes_becomes_the_file_of_the_entry(store, write_entry):
    receipt = write_entry(store, KEY)
    Path(store.files.root, "01", f"{KEY}.json").unlink()
    assert store.get(KEY) is None
    assert write_entry(store, KEY, created=receipt.created) == receipt


def test_a_discarded_entry_is_gone_with_all_its_files(store, write_entry):
    write_entry(store, KEY, pa.table({"n": [1]}))
    write_entry(store, KEY, pa.table({"n": [2]}))
    kept = write_entry(store, OTHER)
    store.discard(KEY)
    assert store.find([KEY, OTHER]) == {OTHER: kept}
    assert names(store) == [f"01/{OTHER}.arrow", f"01/{OTHER}.json"]


def damage_receipt(data, receipt):
    receipt.write_bytes(receipt.read_bytes()[:-10])


def empty_receipt(data, receipt):
    receipt.write_bytes(b"")


def replace_receipt(data, receipt):
    receipt.write_bytes(receipt.read_bytes().replace(KEY.encode(), OTHER.encode()))


def remove_file(data, receipt):
    data.unlink()


def truncate_file(data, receipt):
    os.truncate(data, 20)


def lengthen_file(data, receipt):
    with data.open("ab") as file:
        file.write(b"more")


@pytest.mark.parametrize("extra_keys", [0, 20])
@pytest.mark.parametrize(
    "damage", [damage_receipt, empty_receipt, replace_receipt, remove_file, truncate_file, lengthen_file]
)
def test_a_damaged_entry_is_a_miss_with_a_warning_and_can_be_written_again(
    store, write_entry, warnings, damage, extra_keys, table
):
    write_entry(store, KEY)
    damage(*(Path(store.files.root, "01", f"{KEY}.{suffix}") for suffix in ("arrow", "json")))
    asked = [KEY, *(f"01{index:030x}" for index in range(extra_keys))]
    assert store.find(asked) == {}
    (warning,) = warnings()
    assert f"01/{KEY}.json is not used and will be computed again" in warning
    again = write_entry(store, KEY)
    assert store.find(asked) == {KEY: again}
    assert store.table(again).to_pylist() == table.to_pylist()
    store.verify(again)


def test_a_missing_receipt_is_a_miss_without_noise(store, write_entry, warnings):
    write_entry(store, KEY)
    Path(store.files.root, "01", f"{KEY}.json").unlink()
    assert store.get(KEY) is None
    assert warnings() == []


def test_a_flipped_byte_is_found_by_verification_and_healed_by_writing_again(store, write_entry, flip_byte, table):
    receipt = write_entry(store, KEY)
    flip_byte(store.local_path(receipt))
    with pytest.raises(CorruptFileError, match="checksum"):
        store.verify(receipt)
    store.discard(KEY)
    assert store.table(write_entry(store, KEY)).to_pylist() == table.to_pylist()


def test_writing_over_a_flipped_byte_without_discarding_it_first_heals_too(store, write_entry, flip_byte):
    flip_byte(store.local_path(write_entry(store, KEY)))
    write_entry(store, KEY)
    store.verify(store.get(KEY))


def test_a_cache_that_was_copied_elsewhere_is_full_of_hits(store, write_entry, tmp_path, key_of, table):
    keys = [key_of(index) for index in range(20)]
    for key in keys:
        write_entry(store, key)
    shutil.copytree(tmp_path / "cache", tmp_path / "copy", copy_function=shutil.copyfile)
    shutil.rmtree(tmp_path / "cache")
    copy = Store.open(tmp_path / "copy")
    found = copy.find(keys)
    assert list(found) == keys
    assert all(copy.table(receipt).to_pylist() == table.to_pylist() for receipt in found.values())
    assert verify(copy).bad == ()


def test_a_store_can_be_sent_to_another_process(store, write_entry):
    write_entry(store, KEY)
    assert pickle.loads(pickle.dumps(store)).get(KEY) == store.get(KEY)


def test_a_relative_path_means_the_same_after_the_working_directory_changed(tmp_path, write_entry, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = Store.open("cache")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    write_entry(store, KEY)
    assert (tmp_path / "cache" / "01" / f"{KEY}.json").exists()


def test_a_file_url_is_the_directory_itself(tmp_path, write_entry):
    receipt = write_entry(Store.open(f"file://{tmp_path}/cache"), KEY)
    assert Store.open(tmp_path / "cache").get(KEY) == receipt


def test_a_file_in_the_place_of_the_cache_is_refused(tmp_path):
    (tmp_path / "cache").write_text("precious")
    for place in ("cache", "cache/below"):
        with pytest.raises(StoreError, match=r"/cache is a file; give a directory"):
            Store.open(tmp_path / place)


def test_a_link_to_nothing_in_the_place_of_the_cache_is_refused(tmp_path):
    (tmp_path / "cache").symlink_to(tmp_path / "gone")
    with pytest.raises(StoreError, match=r"/cache is a link to nothing; give a directory"):
        Store.open(tmp_path / "cache")


def test_an_entry_that_waits_for_the_disk_is_the_same_entry(tmp_path, write_entry):
    receipt = write_entry(Store.open(tmp_path, sync=True), KEY)
    assert Store.open(tmp_path).get(KEY) == receipt


def test_no_file_is_ever_locked(store, write_entry, monkeypatch):
    def refuse(*arguments):
        raise OSError(37, "No locks available")

    for function in ("flock", "lockf", "fcntl"):
        monkeypatch.setattr(fcntl, function, refuse)
    receipt = write_entry(store, KEY)
    write_entry(store, KEY)
    assert store.table(store.get(KEY)).num_rows == 3
    store.verify(receipt)
    store.discard(KEY)


def test_a_hit_renews_the_time_stamp_of_the_receipt_once_it_is_old(store, write_entry):
    write_entry(store, KEY)
    path = Path(store.files.root, "01", f"{KEY}.json")
    for age, renewed in ((60, False), (7200, True)):
        os.utime(path, (time.time() - age, time.time() - age))
        store.get(KEY)
        assert (time.time() - path.stat().st_mtime < 30) is renewed


def test_a_cache_that_can_only_be_read_gives_hits(store, write_entry, monkeypatch):
    write_entry(store, KEY)
    path = Path(store.files.root, "01", f"{KEY}.json")
    os.utime(path, (1, 1))

    def refuse(*arguments, **keywords):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "utime", refuse)
    assert store.get(KEY) is not None


WRITER = textwrap.dedent(
    """
    import os, sys
    import pyarrow as pa
    from raydata_ext.store import Receipt, Store
    from raydata_ext.table.ipc_writer import ShardWriter

    store, key, rounds, varied = Store.open(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4] == "varied"
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(rounds):
        table = pa.table({"n": [os.getpid(), number] if varied else [1, 2]})
        with ShardWriter(store.writing_path(key), table.schema) as writer:
            writer.write(table.to_batches()[0])
            done = writer.finish()
        receipt = Receipt(key, done.rows, done.num_bytes, done.checksum, done.schema)
        published = store.publish(receipt)
        store.verify(published)
        assert store.table(published).to_pydict() == table.to_pydict()
    """
)


def start_writers(directory, rounds, kind, count=2):
    command = [sys.executable, "-c", WRITER, str(directory), KEY, str(rounds), kind]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(count)
    ]
    for process in started:
        assert process.stdout.readline() == "ready\n"
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    return started


@pytest.mark.parametrize("kind", ["same", "varied"])
def test_two_processes_that_publish_one_key_at_once_leave_a_valid_entry_at_every_moment(tmp_path, kind, warnings):
    store = Store.open(tmp_path)
    started = start_writers(tmp_path, 150, kind)
    looked = 0
    while any(process.poll() is None for process in started):
        receipt = store.get(KEY)
        if receipt is not None:
            store.verify(receipt)
            looked += 1
    assert [process.returncode for process in started] == [0, 0]
    assert looked > 10
    store.verify(store.get(KEY))
    assert warnings() == []
    for process in started:
        process.communicate()


def test_a_writer_that_is_killed_leaves_nothing_that_counts(tmp_path):
    (process,) = start_writers(tmp_path, 10**9, "varied", count=1)
    store = Store.open(tmp_path)
    while store.get(KEY) is None:
        assert process.poll() is None
    process.kill()
    process.communicate()
    store.verify(store.get(KEY))


def test_receipts_hold_no_path_of_the_cache(store, write_entry):
    write_entry(store, KEY)
    assert str(store.files.root) not in Path(store.files.root, "01", f"{KEY}.json").read_text()


def test_an_unknown_version_of_receipt_is_a_miss(store, write_entry, warnings):
    write_entry(store, KEY)
    path = Path(store.files.root, "01", f"{KEY}.json")
    path.write_bytes(path.read_bytes().replace(b'"version": 1', b'"version": 99'))
    assert store.get(KEY) is None
    assert "version" in warnings()[0]


def test_a_receipt_made_by_hand_is_published_like_any_other(store, table):
    with ShardWriter(store.writing_path(KEY), table.schema) as writer:
        writer.write(table.to_batches()[0])
        done = writer.finish()
    receipt = Receipt(KEY, done.rows, done.num_bytes, done.checksum, done.schema)
    assert store.publish(receipt) == dataclasses.replace(receipt, file=f"{KEY}.arrow")


def test_a_cache_directory_that_cannot_be_made_is_a_write_error_that_names_it(tmp_path):
    store = Store.open(tmp_path / "cache")
    (tmp_path / "cache").write_text("")
    with pytest.raises(WriteError, match=f"cannot make the directory.*{tmp_path}/cache/01"):
        store.writing_path(KEY)
