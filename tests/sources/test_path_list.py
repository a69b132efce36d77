"""Files that list paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from raydata_ext.errors import NoMatchError
from raydata_ext.sources import list_files
from raydata_ext.sources.path_list import expand_path

if TYPE_CHECKING:
    from pathlib import Path


def test_a_list_stands_for_its_paths_patterns_and_urls(tmp_path: Path, memory) -> None:
    for name in ("c/b.txt", "c/a.txt", "c/d/x.txt", "other.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    memory.pipe("/m/z.txt", b"z")
    (tmp_path / "list").write_text(
        f"# what we train on\nc/b.txt\r\n\nc/d/*.txt\n{tmp_path}/other.txt\nmemory://m/z.txt\n"
    )
    expected = [f"{tmp_path}/c/b.txt", f"{tmp_path}/c/d/x.txt", f"{tmp_path}/other.txt", "memory:///m/z.txt"]
    assert [file.path for file in list_files(f"@{tmp_path}/list")] == expected
    assert len(list_files([f"@{tmp_path}/list", tmp_path / "c/a.txt"])) == 5


def test_a_list_may_be_remote(memory) -> None:
    memory.pipe("/m/list.txt", b"a.txt\n")
    memory.pipe("/m/a.txt", b"a")
    assert [file.path for file in list_files("@memory://m/list.txt")] == ["memory:///m/a.txt"]


def test_a_file_whose_name_begins_with_the_mark_is_that_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "@a.txt").write_text("x")
    assert expand_path("@a.txt") == ["@a.txt"]
    assert [file.name for file in list_files("@a.txt")] == ["@a.txt"]


@pytest.mark.parametrize("content", ["", "\n# nothing\n"])
def test_an_empty_or_missing_list_is_an_error_that_names_it(tmp_path: Path, content: str) -> None:
    (tmp_path / "list").write_text(content)
    with pytest.raises(NoMatchError, match=r"list' holds no path"):
        list_files(f"@{tmp_path}/list")
    with pytest.raises(NoMatchError, match=r"nope' cannot be read"):
        list_files(f"@{tmp_path}/nope")


def test_a_path_in_a_list_that_matches_nothing_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("nope.txt\n")
    with pytest.raises(NoMatchError, match=r"no file matches '.*nope\.txt'"):
        list_files(f"@{tmp_path}/list")
