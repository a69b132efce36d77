"""Glob patterns over local directories."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

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
    return sorted(os.path.relpath(path, root) for path in set(local_glob(str(root), pattern)))


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
