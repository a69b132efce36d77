"""Where results go, and how it is reached."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest

from raydata_ext.plan import Workspace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("RAYDATA_EXT_CACHE")


def test_a_workspace_is_what_is_given_or_the_environment_says_or_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Workspace().path == str(tmp_path / "home" / ".cache" / "raydata_ext")
    monkeypatch.setenv("RAYDATA_EXT_CACHE", "memory://cache/")
    assert (Workspace().path, Workspace().local_directory) == ("memory://cache", "")
    assert Workspace("~/c").path == Workspace(f"file://{tmp_path}/home/c").local_directory == f"{tmp_path}/home/c"


def test_whatever_takes_a_cache_directory_takes_a_workspace(tmp_path: Path) -> None:
    workspace = Workspace("s3://bucket/cache", {"key": "me"}, tmp_path / "nvme", 1 << 30)
    assert Workspace.of(workspace) is workspace
    other = Workspace.of(workspace, {"key": "you"})
    assert (other.path, other.storage_options, other.copies) == (workspace.path, {"key": "you"}, workspace.copies)
    assert Workspace.of(tmp_path, {"key": "me"}).storage_options == {"key": "me"}


def test_a_workspace_travels_with_all_that_it_was_made_of(tmp_path: Path) -> None:
    workspace = Workspace("s3://bucket/cache", {"key": "me", "secret": "hunter2"}, tmp_path / "nvme", 1 << 30)
    again = pickle.loads(pickle.dumps(workspace))
    assert (again.path, again.storage_options, again.copies) == (
        workspace.path,
        workspace.storage_options,
        workspace.copies,
    )
    assert again.store.files.storage_options == workspace.storage_options
    assert "hunter2" not in repr(again)
    assert "hunter2" not in repr(Workspace("https://me:hunter2@host/cache"))
