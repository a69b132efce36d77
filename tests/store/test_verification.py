from __future__ import annotations

import os
from pathlib import Path

import fsspec
import pytest

from raydata_ext.store.store import Store
from raydata_ext.store.verification import verify


@pytest.fixture(params=["local", "remote"])
def store(request, tmp_path):
    if request.param == "local":
        yield Store.open(tmp_path / "cache")
        return
    url = f"memory://verification-{os.getpid()}"
    yield Store.open(url, local_dir=tmp_path / "local")
    fsspec.filesystem("memory").rm(url, recursive=True)


def replace_content(store, receipt, change):
    name = f"{receipt.key[:2]}/{receipt.file_name}"
    if store.files.root.startswith("memory"):
        memory, path = fsspec.core.url_to_fs(f"{store.files.root}/{name}")
        memory.pipe_file(path, change(memory.cat_file(path)))
    else:
        path = Path(store.files.root, name)
        path.write_bytes(change(path.read_bytes()))


def test_sound_entries_pass(store, write_entry, key_of):
    written = [write_entry(store, key_of(index)) for index in range(5)]
    report = verify(store)
    assert report.checked == 5
    assert report.num_bytes == sum(receipt.num_bytes for receipt in written)
    assert report.bad == ()


def test_each_damaged_entry_is_reported(store, write_entry, key_of):
    written = [write_entry(store, key_of(index)) for index in range(5)]
    replace_content(store, written[1], lambda data: data[:-30] + bytes([data[-30] ^ 1]) + data[-29:])
    replace_content(store, written[3], lambda data: data[:-8])
    report = verify(store)
    assert {bad.key for bad in report.bad} == {key_of(1), key_of(3)}
    assert "checksum" in next(bad.problem for bad in report.bad if bad.key == key_of(1))
    assert "damaged" in next(bad.problem for bad in report.bad if bad.key == key_of(3))


def test_only_the_keys_asked_for_are_read(store, write_entry, key_of):
    written = [write_entry(store, key_of(index)) for index in range(3)]
    replace_content(store, written[0], lambda data: data[:-8])
    assert verify(store, [key_of(1)]).bad == ()
    assert verify(store, [key_of(1)]).checked == 1
    assert [bad.key for bad in verify(store, [key_of(0), key_of(9)]).bad] == [key_of(0), key_of(9)]
