"""The local files that a path stands for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from raydata_ext.errors import NoMatchError
from raydata_ext.sources.local_files import LocalFiles, fixed_part

if TYPE_CHECKING:
    from pathlib import Path


def test_a_directory_stands_for_all_its_files_but_hidden_ones_and_markers(tmp_path: Path) -> None:
    for name in ("b/2.txt", "a.txt", "_SUCCESS", "_temporary/x.txt", ".cache/x.txt", "b/.swp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    files = LocalFiles(str(tmp_path))
    assert files.paths == [str(tmp_path / "a.txt"), str(tmp_path / "b/2.txt")]
    assert files.root == str(tmp_path)


def test_home_and_relative_paths_become_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path.parent)
    for given in ("~/a.txt", f"{tmp_path.name}/../{tmp_path.name}/a.txt"):
        assert LocalFiles(given).paths == [str(tmp_path / "a.txt")]


def test_a_link_to_nowhere_is_an_error_that_names_both_ends(tmp_path: Path) -> None:
    (tmp_path / "a.txt").symlink_to("annex/a.txt")
    files = LocalFiles(f"{tmp_path}/*.txt")
    with pytest.raises(NoMatchError, match=r"a\.txt' \(a link to 'annex/a\.txt'\) does not exist; restore it"):
        files.input_file(files.paths[0], "a.txt")


def test_a_pipe_is_refused_rather_than_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    files = LocalFiles(str(tmp_path / "pipe"))
    with pytest.raises(NoMatchError, match="pipe' is no regular file"):
        files.input_file(files.paths[0], "pipe")


def test_a_file_may_be_named_like_a_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "~backup.txt").touch()
    monkeypatch.chdir(tmp_path)
    assert LocalFiles("~backup.txt").paths == [str(tmp_path / "~backup.txt")]


def test_the_version_holds_modification_time_and_inode(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"abc")
    file = LocalFiles(str(path)).input_file(str(path), "a.txt")
    stat = path.stat()
    assert (file.size, file.version) == (3, f"{stat.st_mtime_ns}:{stat.st_ino}")
    assert file.modified_ns == stat.st_mtime_ns


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("/a/b/*.txt", ("/a/b", "*.txt")),
        ("/a/*/c/**", ("/a", "*/c/**")),
        ("/*", ("/", "*")),
        ("/a/b", ("/a", "b")),
        ("/a", ("/", "a")),
        ("bucket/a*", ("bucket", "a*")),
        ("*/a", ("", "*/a")),
    ],
)
def test_the_fixed_part_of_a_pattern_ends_before_the_first_wildcard(pattern: str, parts: tuple[str, str]) -> None:
    assert fixed_part(pattern) == parts
