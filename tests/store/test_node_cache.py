from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest
import xxhash

from raydata_ext.errors import CorruptFileError, NoRoomError, StoreError
from raydata_ext.store.node_cache import NodeCache

DEAD_PROCESS_ID = 2**22 + 1  # above the highest that Linux gives
SIZE = 1000


class Remote:
    """Objects of SIZE bytes, and how often each was fetched."""

    def __init__(self):
        self.fetched = []

    def content(self, number):
        return bytes([number]) * SIZE

    def name(self, number):
        return f"{number:032x}-{self.checksum(number)}.arrow"

    def checksum(self, number):
        return xxhash.xxh3_128_hexdigest(self.content(number))

    def hold(self, cache, number):
        def download(file):
            self.fetched.append(number)
            file.write(self.content(number))

        return Path(cache.hold(self.name(number), SIZE, self.checksum(number), download))


@pytest.fixture
def remote():
    return Remote()


@pytest.fixture
def cache(tmp_path):
    return NodeCache(str(tmp_path / "copies"), 3 * SIZE)


def files(cache):
    return [path for path in cache.path.rglob("*") if path.is_file() and path.parent.name != "locks"]


def total_bytes(directory):
    """Of all files below a directory, each counted once however many names it has."""
    sizes = {}
    for parent, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(FileNotFoundError):  # of another name by now, or gone
                status = Path(parent, name).stat()
                sizes[status.st_ino] = status.st_size
    return sum(sizes.values())


def copies(cache):
    return sorted(int(path.name[:32], 16) for path in Path(cache.directory).glob("*.arrow"))


def test_an_object_is_fetched_once(cache, remote):
    paths = [remote.hold(cache, 7) for _ in range(3)]
    assert paths[0].read_bytes() == remote.content(7)
    assert paths[0] == paths[1] == paths[2]
    assert remote.fetched == [7]


def test_a_copy_is_found_again_after_a_restart(cache, remote):
    program = f"""
import pathlib
from raydata_ext.store.node_cache import NodeCache
cache = NodeCache({cache.directory!r}, {cache.max_bytes})
cache.hold({remote.name(1)!r}, {SIZE}, {remote.checksum(1)!r}, lambda file: file.write({remote.content(1)!r}))
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    assert remote.hold(cache, 1).read_bytes() == remote.content(1)
    assert remote.fetched == []


def test_the_least_recently_used_copy_makes_room(cache, remote):
    for number in (1, 2, 3):
        os.utime(remote.hold(cache, number), (number, number))
        cache.release(remote.name(number))
    remote.hold(cache, 1)
    cache.release(remote.name(1))
    remote.hold(cache, 4)
    assert copies(cache) == [1, 3, 4]


def test_a_copy_in_use_is_never_evicted(cache, remote):
    held = remote.hold(cache, 1)
    for number in range(2, 12):
        remote.hold(cache, number)
        cache.release(remote.name(number))
        assert held.read_bytes() == remote.content(1)
    assert 1 in copies(cache)
    assert len(copies(cache)) == 3


def test_a_copy_is_in_use_until_its_last_user_released_it(cache, remote):
    held = [remote.hold(cache, 1) for _ in range(2)]
    cache.release(remote.name(1))
    assert held[0].exists()
    cache.release(remote.name(1))
    assert not held[0].exists()
    assert copies(cache) == [1]


def test_releasing_what_was_not_held_does_nothing(cache, remote):
    cache.release(remote.name(1))
    remote.hold(cache, 1)
    cache.release(remote.name(1))
    cache.release(remote.name(1))
    assert remote.hold(cache, 1).exists()


def test_copies_in_use_that_leave_no_room_are_an_error_that_says_what_to_do(cache, remote):
    for number in (1, 2, 3):
        remote.hold(cache, number)
    with pytest.raises(StoreError, match=r"no room for 1000 bytes.*3000 of at most 3000.*raise max_local_bytes"):
        remote.hold(cache, 4)
    cache.release(remote.name(2))
    assert remote.hold(cache, 4).read_bytes() == remote.content(4)
    assert copies(cache) == [1, 3, 4]


def test_mapped_rows_stay_readable_after_release_and_eviction(cache, remote):
    with pa.memory_map(str(remote.hold(cache, 1))) as mapped:
        cache.release(remote.name(1))
        for number in (2, 3, 4):
            remote.hold(cache, number)
        assert copies(cache) == [2, 3, 4]
        assert mapped.read() == remote.content(1)


def test_another_process_keeps_its_copies(cache, remote):
    program = f"""
import sys
from raydata_ext.store.node_cache import NodeCache
cache = NodeCache({cache.directory!r}, {cache.max_bytes})
cache.hold({remote.name(1)!r}, {SIZE}, {remote.checksum(1)!r}, lambda file: file.write({remote.content(1)!r}))
print("held", flush=True)
sys.stdin.readline()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    for number in range(2, 6):
        remote.hold(cache, number)
        cache.release(remote.name(number))
    assert 1 in copies(cache)
    process.kill()
    process.communicate()
    for number in range(6, 9):
        remote.hold(cache, number)
    assert copies(cache) == [6, 7, 8]


def test_leftovers_of_dead_processes_are_removed_when_room_is_needed(cache, remote):
    cache.make_directory()
    host = socket.gethostname()
    temporary = Path(cache.directory, f".x.arrow.{host}.{DEAD_PROCESS_ID}.00ff.tmp")
    temporary.write_bytes(bytes(2 * SIZE))
    for number in (1, 2, 3):
        remote.hold(cache, number)
    assert not temporary.exists()


def test_a_copy_of_another_size_is_fetched_anew(cache, remote):
    remote.hold(cache, 1)
    cache.release(remote.name(1))
    os.truncate(Path(cache.directory, remote.name(1)), 10)
    assert remote.hold(cache, 1).read_bytes() == remote.content(1)
    assert remote.fetched == [1, 1]


def test_what_was_damaged_on_its_way_is_fetched_once_more(cache, remote):
    contents = [b"x" * SIZE, remote.content(1)]
    path = cache.hold(remote.name(1), SIZE, remote.checksum(1), lambda file: file.write(contents.pop(0)))
    assert Path(path).read_bytes() == remote.content(1)


@pytest.mark.parametrize("content", [b"", b"x" * SIZE, b"\1" * (SIZE - 1)])
def test_other_bytes_than_the_receipt_says_never_become_a_copy(cache, remote, content):
    with pytest.raises(CorruptFileError, match="what was fetched is not 1000 bytes of checksum"):
        cache.hold(remote.name(1), SIZE, remote.checksum(1), lambda file: file.write(content))
    assert files(cache) == []


def test_a_download_that_fails_leaves_nothing_behind(cache, remote):
    def fail(file):
        file.write(b"half")
        raise StoreError("unreachable")

    with pytest.raises(StoreError, match="unreachable"):
        cache.hold(remote.name(1), SIZE, remote.checksum(1), fail)
    assert files(cache) == []


def test_many_threads_that_want_the_same_copies_all_get_them(tmp_path, remote):
    cache = NodeCache(str(tmp_path / "copies"), 100 * SIZE)
    wrong = []

    def work():
        for number in range(20):
            if remote.hold(cache, number).read_bytes() != remote.content(number):
                wrong.append(number)
            cache.release(remote.name(number))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert copies(cache) == list(range(20))
    assert sorted(remote.fetched) == list(range(20))


def test_what_is_being_fetched_counts_in_full(cache, remote):
    """Each download but the last begins another one before it has written a byte."""
    sizes = []

    def fetch(number):
        def download(file):
            sizes.append(total_bytes(cache.path))
            if number < 4:
                fetch(number + 1)
            file.write(remote.content(number))

        cache.hold(remote.name(number), SIZE, remote.checksum(number), download)

    with pytest.raises(NoRoomError, match=r"no room for 1000 bytes.*3000 of at most 3000") as caught:
        fetch(1)
    assert not caught.value.may_pass
    assert sizes == [SIZE, 2 * SIZE, 3 * SIZE]
    assert files(cache) == []
    fetch(4)
    assert copies(cache) == [4]


def test_processes_and_threads_that_crowd_each_other_out_keep_to_the_bound_and_read_what_they_hold(tmp_path):
    cache = NodeCache(str(tmp_path / "copies"), 100_000)
    program = f"""
import random, sys, threading, time, pathlib, xxhash
from raydata_ext.errors import NoRoomError
from raydata_ext.store.node_cache import NodeCache

cache, held, crowded = NodeCache({cache.directory!r}, {cache.max_bytes}), [], []

def work(seed):
    generator = random.Random(seed)
    for _ in range(40):
        number = generator.randrange(12)
        content = bytes([number]) * (10_000 + 3_000 * number)
        checksum = xxhash.xxh3_128_hexdigest(content)
        name = f"{{number:032x}}-{{checksum}}.arrow"

        def download(file):
            for start in range(0, len(content), 9_000):
                file.write(content[start : start + 9_000])
                file.flush()
                time.sleep(0)

        try:
            path = cache.hold(name, len(content), checksum, download)
        except NoRoomError:
            crowded.append(name)
            continue
        time.sleep(0)
        held.append(pathlib.Path(path).read_bytes() == content)
        cache.release(name)

threads = [threading.Thread(target=work, args=(10 * int(sys.argv[1]) + number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert all(held) and len(held) > 30 and len(held) + len(crowded) == 120, (len(held), len(crowded))
"""
    started = [subprocess.Popen([sys.executable, "-c", program, str(seed)]) for seed in range(3)]
    room = cache.make_directory() / "locks" / "room"
    room.parent.mkdir(exist_ok=True)
    sizes, pause = [], threading.Event()
    while any(process.poll() is None for process in started):
        pause.wait(0.002)
        with room.open("ab") as lock:  # nobody makes room, or takes it, while this one looks
            fcntl.flock(lock, fcntl.LOCK_EX)
            sizes.append(total_bytes(cache.path))
    assert [process.returncode for process in started] == [0, 0, 0]
    assert 0 < max(sizes) <= cache.max_bytes


@pytest.fixture
def temporary_files(tmp_path, monkeypatch):
    """The system's directory for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv("RAYDATA_EXT_LOCAL_DIR", raising=False)
    return tmp_path


def test_the_default_directory_is_the_users_own_and_closed_to_others(temporary_files):
    made = NodeCache().make_directory()
    assert made == temporary_files / f"raydata_ext-{os.getuid()}"
    assert made.stat().st_mode & 0o077 == 0


def test_a_default_directory_of_another_user_is_refused(temporary_files, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    (temporary_files / "raydata_ext-12345").mkdir()
    with pytest.raises(StoreError, match="belongs to another user or is a link; set RAYDATA_EXT_LOCAL_DIR"):
        NodeCache().make_directory()


def test_a_link_in_the_place_of_the_default_directory_is_refused(temporary_files):
    (temporary_files / "mine").mkdir()
    (temporary_files / f"raydata_ext-{os.getuid()}").symlink_to("mine")
    with pytest.raises(StoreError, match="is a link"):
        NodeCache().make_directory()


def test_each_machine_says_where_its_copies_are_and_how_large_they_may_be(tmp_path, monkeypatch, remote):
    cache = NodeCache()
    monkeypatch.setenv("RAYDATA_EXT_LOCAL_DIR", str(tmp_path / "nvme"))
    monkeypatch.setenv("RAYDATA_EXT_MAX_LOCAL_BYTES", "2KB")
    assert remote.hold(cache, 1).is_relative_to(tmp_path / "nvme")
    remote.hold(cache, 2)
    with pytest.raises(NoRoomError, match="2000 of at most 2000"):
        remote.hold(cache, 3)
    monkeypatch.setenv("RAYDATA_EXT_MAX_LOCAL_BYTES", "much")
    with pytest.raises(StoreError, match="RAYDATA_EXT_MAX_LOCAL_BYTES is 'much'; give a size such as 500GB"):
        remote.hold(cache, 3)


def test_without_a_bound_the_disk_is_the_bound(tmp_path, remote):
    cache = NodeCache(str(tmp_path / "copies"))
    for number in range(5):
        remote.hold(cache, number)
    assert copies(cache) == list(range(5))


def test_holding_a_copy_counts_as_use(cache, remote):
    os.utime(remote.hold(cache, 1), (1, 1))
    cache.release(remote.name(1))
    remote.hold(cache, 1)
    assert time.time() - Path(cache.directory, remote.name(1)).stat().st_mtime < 60
