"""Glob patterns over local directories."""

from __future__ import annotations

import glob
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raydata_ext.sources.local_glob import local_glob

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("a.txt", "b.md", "x/a.txt", "x/y/a.txt", "x/y/z/c.txt", ".hidden.txt", ".git/a.txt", "x/.z/a.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


def found(root: Path, pattern: str) -> list[str]:
    return sorted(os.path.relpath(path, root) for path in local_glob(str(root), pattern))


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*.txt", ["a.txt"]),
        ("*", ["a.txt", "b.md"]),
        ("?.md", ["b.md"]),
        ("[a-b].*", ["a.txt", "b.md"]),
        ("[!a].*", ["b.md"]),
        ("**/*.txt", ["a.txt", "x/a.txt", "x/y/a.txt", "x/y/z/c.txt"]),
        ("**/a.txt", ["a.txt", "x/a.txt", "x/y/a.txt"]),
        ("x/**/a.txt", ["x/a.txt", "x/y/a.txt"]),
        ("x/**", ["x/a.txt", "x/y/a.txt", "x/y/z/c.txt"]),
        ("**/y/**/*.txt", ["x/y/a.txt", "x/y/z/c.txt"]),
        ("**/**/c.txt", ["x/y/z/c.txt"]),
        ("**/*/**/a.txt", ["x/a.txt", "x/y/a.txt"]),
        ("*/*.txt", ["x/a.txt"]),
        (".*", [".hidden.txt"]),
        (".git/*", [".git/a.txt"]),
        ("*/", ["a.txt", "b.md"]),
        ("nothing/*", []),
        ("a.txt/*", []),
    ],
)
def test_a_pattern_matches_as_in_the_shell(tree: Path, pattern: str, names: list[str]) -> None:
    assert found(tree, pattern) == names


@pytest.mark.parametrize(
    ("pattern", "directories"),
    [
        ("**", [".", "x", "x/y", "x/y/z"]),
        ("**/*.txt", [".", "x", "x/y", "x/y/z"]),
        ("x/**/a.txt", [".", "x", "x/y", "x/y/z"]),
        ("**/y/**/*.txt", [".", "x", "x/y", "x/y/z"]),
        ("**/.z/**", [".", "x", "x/.z", "x/y", "x/y/z"]),
        ("**/**/*/**/*", [".", "x", "x/y", "x/y/z"]),
        ("*/*.txt", [".", "x"]),
    ],
)
def test_a_directory_is_read_once_and_only_where_something_below_it_may_match(
    tree: Path, monkeypatch: pytest.MonkeyPatch, pattern: str, directories: list[str]
) -> None:
    read: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: read.append(os.path.relpath(path, tree)) or scandir(path))
    assert found(tree, pattern)
    assert sorted(read) == directories


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(["**", "*", "x", "y", ".z", ".*", "?", "a.txt", "*.txt", "[!x]*"]), min_size=1, max_size=5)
)
def test_without_links_the_files_are_those_that_glob_of_the_standard_library_finds(
    tree: Path, parts: list[str]
) -> None:
    pattern = "/".join(parts)
    known = glob.glob(pattern, root_dir=tree, recursive=True)  # noqa: PTH207 - Path.glob has other rules for hidden files
    known = [name for name in known if not name.endswith("/")]  # `a.txt/`, which it gives for `a.txt/**`
    assert found(tree, pattern) == sorted({name for name in known if (tree / name).is_file()})


def test_links_to_directories_are_followed_but_not_in_circles(tree: Path) -> None:
    (tree / "x/up").symlink_to(tree)
    (tree / "link").symlink_to(tree / "x/y")
    (tree / "x/y/back").symlink_to(tree / "x")
    assert found(tree, "**/c.txt") == ["link/z/c.txt", "x/y/z/c.txt"]


def test_a_directory_that_cannot_be_read_is_an_error(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.scandir

    def scandir(path: str):
        if path.endswith("/y"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)  # root, as whom tests may run, may read everything
    with pytest.raises(PermissionError, match="x/y"):
        found(tree, "**/*.txt")
