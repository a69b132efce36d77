from __future__ import annotations

import json
import os
import socket
import time
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest

from raydata_ext.errors import StoreError
from raydata_ext.store.garbage_collection import collect_garbage
from raydata_ext.store.store import Store

HOUR = 3600.0
DEAD_PROCESS_ID = 2**22 + 1  # above the highest that Linux gives


@pytest.fixture
def store(tmp_path):
    return Store.open(tmp_path / "cache")


@pytest.fixture
def aged_entry(store, write_entry):
    """A function that writes an entry and lets it look as if it had been used last some hours ago."""

    def write(key, hours, table=None):
        receipt = write_entry(store, key) if table is None else write_entry(store, key, table)
        age(store, f"{key[:2]}/{receipt.file_name}", hours)
        age(store, f"{key[:2]}/{key}.json", hours)
        return receipt

    return write


def age(store, name, hours):
    stamp = time.time() - hours * HOUR
    os.utime(Path(store.files.root, name), (stamp, stamp))


def age_all(store, hours):
    for name in files(store):
        age(store, name, hours)


def files(store):
    root = Path(store.files.root)
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def removed(report):
    return {name for garbage in report.removed for name in garbage.names}


def test_by_default_nothing_is_removed_but_told(store, aged_entry, key_of):
    aged_entry(key_of(1), 48)
    before = files(store)
    report = collect_garbage(store, older_than=24 * HOUR)
    assert report.dry_run
    assert removed(report) == before
    assert files(store) == before


def test_entries_not_used_for_longer_than_asked_are_removed(store, aged_entry, key_of):
    aged_entry(key_of(1), 48)
    aged_entry(key_of(2), 12)
    report = collect_garbage(store, older_than=24 * HOUR, dry_run=False)
    assert list(store.keys()) == [key_of(2)]
    assert [garbage.names[0].endswith(f"{key_of(1)}.json") for garbage in report.removed] == [True]
    assert "not used for" in report.removed[0].reason
    assert report.entries_left == 1
    assert report.bytes_left == sum(Path(store.files.root, name).stat().st_size for name in files(store))


def test_the_least_recently_used_go_first_until_the_size_fits(store, aged_entry, key_of):
    for index, hours in ((1, 5), (2, 9), (3, 7), (4, 3)):
        aged_entry(key_of(index), hours)
    whole = collect_garbage(store).bytes_left
    recent = [name for name in files(store) if key_of(1) in name or key_of(4) in name]
    limit = sum(Path(store.files.root, name).stat().st_size for name in recent)
    report = collect_garbage(store, max_size=limit, dry_run=False)
    assert sorted(store.keys()) == sorted([key_of(1), key_of(4)])
    assert report.bytes_left == limit
    assert report.bytes_freed == whole - report.bytes_left
    assert report.bytes_over_limit == 0


def test_a_dry_run_says_exactly_what_the_real_one_does(store, aged_entry, key_of):
    for index in range(6):
        aged_entry(key_of(index), 2 + index)
    limit = collect_garbage(store).bytes_left // 2
    planned = collect_garbage(store, max_size=limit, older_than=6.5 * HOUR, now=time.time())
    done = collect_garbage(store, max_size=limit, older_than=6.5 * HOUR, dry_run=False)
    assert removed(planned) == removed(done)
    assert (planned.entries_left, planned.bytes_left) == (done.entries_left, done.bytes_left)


@pytest.mark.parametrize("limits", [{"max_size": 0}, {"older_than": 0.0}])
def test_what_was_written_within_the_last_hour_stays(store, aged_entry, key_of, limits):
    aged_entry(key_of(1), 0.9)
    report = collect_garbage(store, dry_run=False, **limits)
    assert list(store.keys()) == [key_of(1)]
    assert report.bytes_over_limit == (report.bytes_left if "max_size" in limits else 0)


def test_what_was_found_within_the_last_hour_stays(store, aged_entry, key_of):
    aged_entry(key_of(1), 48)
    aged_entry(key_of(2), 48)
    store.find([key_of(1)])
    collect_garbage(store, older_than=HOUR, dry_run=False)
    assert list(store.keys()) == [key_of(1)]


def test_collection_itself_is_no_use(store, aged_entry, key_of):
    aged_entry(key_of(1), 48, pa.table({"n": [1]}))
    aged_entry(key_of(1), 48, pa.table({"n": [2]}))
    age_all(store, 48)
    collect_garbage(store)
    collect_garbage(store, older_than=HOUR, dry_run=False)
    assert files(store) == set()


def test_what_a_process_has_mapped_stays(store, aged_entry, key_of):
    table = store.table(aged_entry(key_of(1), 48))
    rows = table.to_pylist()
    mapped = pa.memory_map(table.path)
    aged_entry(key_of(2), 48)
    collect_garbage(store, max_size=0, older_than=0.0, dry_run=False)
    assert list(store.keys()) == [key_of(1)]
    assert store.table(store.get(key_of(1))).to_pylist() == rows
    mapped.close()


def test_keys_to_keep_stay(store, aged_entry, key_of):
    aged_entry(key_of(1), 48)
    aged_entry(key_of(2), 48)
    collect_garbage(store, max_size=0, keep=[key_of(2)], dry_run=False)
    assert list(store.keys()) == [key_of(2)]


def test_the_keys_of_a_run_to_keep_stay(store, aged_entry, key_of, tmp_path):
    for index in range(4):
        aged_entry(key_of(index), 48)
    run = tmp_path / "run"
    run.mkdir()
    (run / "report.json").write_text(json.dumps({"shards": [{"key": key_of(1)}, {"receipt": {"key": key_of(3)}}]}))
    collect_garbage(store, max_size=0, keep=[run], dry_run=False)
    assert sorted(store.keys()) == sorted([key_of(1), key_of(3)])


def test_a_run_to_keep_whose_keys_are_not_known_stops_everything(store, aged_entry, key_of, tmp_path):
    aged_entry(key_of(1), 48)
    with pytest.raises(StoreError, match="no JSON file"):
        collect_garbage(store, max_size=0, keep=[tmp_path / "typo"], dry_run=False)
    assert list(store.keys()) == [key_of(1)]


def temporary(store, process_id, host=None, hours=0.0):
    name = f"ab/.{'ab' * 16}.arrow.{host or socket.gethostname()}.{process_id}.0123456789abcdef.tmp"
    path = Path(store.files.root, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"half a file")
    age(store, name, hours)
    return name


def test_temporary_files_of_dead_processes_of_this_host_go(store):
    dead = temporary(store, DEAD_PROCESS_ID)
    alive = temporary(store, os.getpid(), hours=50)
    report = collect_garbage(store, dry_run=False)
    assert removed(report) == {dead}
    assert files(store) == {alive}
    assert report.bytes_freed == len(b"half a file")


def test_temporary_files_of_other_hosts_go_after_a_day(store):
    old = temporary(store, os.getpid(), host="elsewhere", hours=25)
    young = temporary(store, DEAD_PROCESS_ID, host="elsewhere", hours=23)
    collect_garbage(store, dry_run=False)
    assert old not in files(store)
    assert files(store) == {young}


def test_shard_files_without_a_receipt_go_after_an_hour(store, aged_entry, key_of):
    for index, hours in ((1, 2), (2, 0.5)):
        aged_entry(key_of(index), hours)
        Path(store.files.root, key_of(index)[:2], f"{key_of(index)}.json").unlink()
    report = collect_garbage(store, dry_run=False)
    assert [garbage.reason for garbage in report.removed] == ["no receipt names it"]
    assert files(store) == {f"{key_of(2)[:2]}/{key_of(2)}.arrow"}


def test_a_file_that_a_newer_receipt_replaced_goes_and_the_entry_stays(store, aged_entry, key_of):
    first = aged_entry(key_of(1), 2, pa.table({"n": [1]}))
    second = aged_entry(key_of(1), 2, pa.table({"n": [2]}))
    age_all(store, 2)
    report = collect_garbage(store, dry_run=False)
    assert removed(report) == {f"{key_of(1)[:2]}/{first.file_name}"}
    assert store.get(key_of(1)) == second
    assert store.table(second).to_pydict() == {"n": [2]}


def test_files_of_other_names_are_left_alone(store, aged_entry, key_of):
    aged_entry(key_of(1), 48)
    directory = Path(store.files.root, key_of(1)[:2])
    (directory / "notes.txt").write_text("precious")
    (Path(store.files.root) / "README").write_text("precious")
    (Path(store.files.root) / "runs").mkdir()
    collect_garbage(store, max_size=0, dry_run=False)
    assert files(store) == {f"{directory.name}/notes.txt", "README"}


def test_negative_limits_are_refused(store):
    with pytest.raises(ValueError, match="max_size"):
        collect_garbage(store, max_size=-1)
    with pytest.raises(ValueError, match="older_than"):
        collect_garbage(store, older_than=-1.0)


def test_an_empty_store_has_no_garbage(store):
    report = collect_garbage(store, max_size=0, older_than=0.0, dry_run=False)
    assert (report.removed, report.entries_left, report.bytes_left, report.bytes_freed) == ((), 0, 0, 0)


def test_entries_under_a_url_count_from_when_they_were_written(write_entry, key_of, tmp_path):
    url = f"memory://garbage-{os.getpid()}"
    store = Store.open(url, local_dir=tmp_path / "local")
    write_entry(store, key_of(1))
    write_entry(store, key_of(2))
    later = time.time() + 10 * HOUR
    assert collect_garbage(store, older_than=20 * HOUR, dry_run=False, now=later).removed == ()
    assert collect_garbage(store, older_than=5 * HOUR, dry_run=False, keep=[key_of(1)], now=later).entries_left == 1
    assert list(store.keys()) == [key_of(1)]
    fsspec.filesystem("memory").rm(url, recursive=True)


def test_a_replaced_file_that_is_still_mapped_stays(store, aged_entry, key_of):
    first = aged_entry(key_of(1), 2, pa.table({"n": [1]}))
    aged_entry(key_of(1), 2, pa.table({"n": [2]}))
    age_all(store, 2)
    with pa.memory_map(store.local_path(first)):
        assert collect_garbage(store, dry_run=False).removed == ()
    assert len(collect_garbage(store, dry_run=False).removed) == 1
