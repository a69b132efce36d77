from __future__ import annotations

import stat

import pytest

from raydata_ext.errors import WriteError
from raydata_ext.store.atomic_files import write_file_atomically


@pytest.mark.parametrize("sync", [False, True])
def test_a_file_holds_what_was_written_and_nothing_else_is_left(tmp_path, sync):
    write_file_atomically(tmp_path / "a.json", b"{}", sync=sync)
    assert (tmp_path / "a.json").read_bytes() == b"{}"
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_an_older_file_is_replaced(tmp_path):
    write_file_atomically(tmp_path / "a.json", b"old and longer")
    write_file_atomically(tmp_path / "a.json", b"new")
    assert (tmp_path / "a.json").read_bytes() == b"new"


def test_a_reader_of_the_older_file_keeps_it(tmp_path):
    write_file_atomically(tmp_path / "a.json", b"old")
    with (tmp_path / "a.json").open("rb") as reader:
        write_file_atomically(tmp_path / "a.json", b"new")
        assert reader.read() == b"old"


def test_nothing_is_left_where_the_name_is_taken_by_a_directory(tmp_path):
    (tmp_path / "a.json").mkdir()
    with pytest.raises(WriteError, match="cannot write"):
        write_file_atomically(tmp_path / "a.json", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_the_file_has_the_rights_of_any_new_file(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    write_file_atomically(tmp_path / "a.json", b"{}")
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)
