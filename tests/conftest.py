"""What tests share: one local Ray for the whole session, and a cache directory a test."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the user's cache, or another test's."""
    monkeypatch.setenv("RAYDATA_EXT_CACHE", str(tmp_path / "default-cache"))
    monkeypatch.delenv("RAYDATA_EXT_EXECUTOR", raising=False)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


@pytest.fixture(scope="session")
def ray_session():
    """A local Ray with two CPUs, shared by all tests that need no cluster of their own."""
    import ray

    directory = tempfile.mkdtemp(prefix="rdx-", dir="/tmp")  # short: Ray's sockets lie in it
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=128 << 20,
        logging_level="ERROR",
        log_to_driver=False,
        _temp_dir=directory,
    )
    yield ray
    ray.shutdown()
    shutil.rmtree(directory, ignore_errors=True)
