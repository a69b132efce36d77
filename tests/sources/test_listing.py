"""Paths and patterns to files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from raydata_ext.errors import NoMatchError
from raydata_ext.sources import list_files

if TYPE_CHECKING:
    from pathlib import Path


def make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"x")


def names(*paths: object, exclude: tuple[str, ...] = ()) -> list[str]:
    return [file.name for file in list_files(paths, exclude=exclude)]


def test_names_are_relative_to_the_fixed_part_of_the_pattern(tmp_path: Path) -> None:
    make(tmp_path, "b.txt", "a/c.txt", "a/b.md")
    assert names(f"{tmp_path}/**/*.txt") == ["a/c.txt", "b.txt"]
    assert names(f"{tmp_path}/a/*.txt") == ["c.txt"]
    assert names(tmp_path) == ["a/b.md", "a/c.txt", "b.txt"]
    assert names(f"{tmp_path}/a/") == ["b.md", "c.txt"]


def test_one_path_need_not_stand_in_a_list(tmp_path: Path) -> None:
    make(tmp_path, "a.txt")
    assert list_files(tmp_path / "a.txt") == list_files(str(tmp_path / "a.txt")) == list_files([tmp_path])


def test_paths_keep_their_order_and_no_file_comes_twice(tmp_path: Path) -> None:
    make(tmp_path, "a.txt", "b.txt", "c.txt")
    given = (tmp_path / "c.txt", f"{tmp_path}/*.txt", tmp_path / "a.txt", tmp_path)
    assert names(*given) == ["c.txt", "a.txt", "b.txt"]


def test_files_given_one_by_one_are_named_apart(tmp_path: Path) -> None:
    make(tmp_path, "x/data.txt", "y/data.txt", "y/z/data.txt")
    assert names(*(tmp_path / name for name in ("y/data.txt", "x/data.txt", "y/z/data.txt"))) == [
        "y/data.txt",
        "x/data.txt",
        "y/z/data.txt",
    ]
    assert names(tmp_path / "x/data.txt") == ["data.txt"]


def test_names_stay_when_the_corpus_moves(tmp_path: Path) -> None:
    make(tmp_path, "here/a/b.txt", "here/c.txt")
    before = names(f"{tmp_path}/here/**/*.txt")
    (tmp_path / "here").rename(tmp_path / "there")
    assert names(f"{tmp_path}/there/**/*.txt") == before


def test_excluded_files_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, "a.txt", "tmp/b.txt", "tmp/deep/c.txt")
    assert names(tmp_path, exclude=("*/tmp/*",)) == ["a.txt"]  # though the corpus itself may lie under /tmp
    assert names(tmp_path, exclude=("tmp/*",)) == ["a.txt"]
    assert names(tmp_path, exclude=("*/b.txt", "a*")) == ["tmp/deep/c.txt"]
    assert names(tmp_path, exclude=(f"{tmp_path}/tmp/deep/*",)) == ["a.txt", "tmp/b.txt"]


def test_excluding_all_is_an_error_that_says_so(tmp_path: Path) -> None:
    make(tmp_path, "a.txt", "b.txt")
    with pytest.raises(NoMatchError, match=r"the 2 that do are all excluded by \['\*\.txt'\]"):
        list_files(tmp_path, exclude=["*.txt"])


def test_no_path_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="at least one path"):
        list_files([])


@pytest.mark.parametrize("given", ["nope/deeper/*.txt", "nope/deeper/a.txt", "*.jsonl", "ab/"])
def test_an_empty_match_names_pattern_and_nearest_directory(tmp_path: Path, given: str) -> None:
    make(tmp_path, "a.txt")
    with pytest.raises(NoMatchError) as caught:
        list_files([tmp_path / "a.txt", f"{tmp_path}/{given}"])
    assert f"no file matches {f'{tmp_path}/{given}'!r}" in str(caught.value)
    assert f"nearest directory that exists is {str(tmp_path)!r} (1 entries)" in str(caught.value)


def test_an_empty_directory_matches_nothing(tmp_path: Path) -> None:
    with pytest.raises(NoMatchError, match=r"\(0 entries\)"):
        list_files(tmp_path)


@pytest.mark.parametrize("name", ["a[1].txt", "a*.txt", "a?.txt", "[", "**"])
def test_a_path_that_exists_wins_over_its_reading_as_a_pattern(tmp_path: Path, name: str) -> None:
    make(tmp_path, name, "a1.txt", "ab.txt")
    assert names(tmp_path / name) == [name]


@pytest.mark.parametrize(
    "name",
    ["größe 日本.txt", "new\nline.txt", "bad\udcff.txt", "a::b.txt", " .txt", "q'\"$.txt", "a#b.txt", "a%20b.txt"],
)
def test_any_file_name_is_found_and_can_be_read(tmp_path: Path, name: str) -> None:
    make(tmp_path, f"d/{name}")
    for given in (tmp_path, tmp_path / "d" / name, f"{tmp_path}/**/*.txt"):
        [file] = list_files([given])
        assert file.path == str(tmp_path / "d" / name)
        with file.open() as stream:
            assert stream.read() == b"x"


def test_a_hidden_file_is_read_where_it_is_named(tmp_path: Path) -> None:
    (tmp_path / ".a.txt").write_text("x")
    assert [file.name for file in list_files(tmp_path / ".a.txt")] == [".a.txt"]
    assert [file.name for file in list_files(tmp_path / ".*.txt")] == [".a.txt"]


def test_a_file_url_is_the_local_file(tmp_path: Path) -> None:
    make(tmp_path, "a.txt")
    assert list_files(f"file://{tmp_path}/*.txt") == list_files(f"{tmp_path}/*.txt")


def test_memory_urls_are_listed_and_read(memory) -> None:
    memory.pipe("/c/b.txt", b"2")
    memory.pipe("/c/d/a.txt", b"1")
    files = list_files("memory://c/**/*.txt")
    assert [(file.name, file.path) for file in files] == [
        ("b.txt", "memory:///c/b.txt"),
        ("d/a.txt", "memory:///c/d/a.txt"),
    ]
    with files[1].open() as stream:
        assert stream.read() == b"1"


def test_local_and_remote_paths_go_together(tmp_path: Path, memory) -> None:
    make(tmp_path, "a.txt")
    memory.pipe("/c/b.txt", b"2")
    assert names(tmp_path, "memory://c") == ["a.txt", "b.txt"]
    with pytest.raises(NoMatchError, match=r"'memory://c/\*\.md'; the nearest directory that exists is 'memory:///c'"):
        list_files("memory://c/*.md")


def test_a_directory_is_read_once_for_its_files_and_its_directories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, *(f"{directory}/{number}.txt" for directory in range(10) for number in range(20)))
    read: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr("os.scandir", lambda path: read.append(os.fspath(path)) or scandir(path))
    assert len(list_files(f"{tmp_path}/**/*.txt")) == 200
    assert sorted(read) == sorted([str(tmp_path), *(str(tmp_path / str(directory)) for directory in range(10))])
