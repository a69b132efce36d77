"""What tests share: one local Ray for the whole session, and a cache directory a test."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where tests are spread over processes, those that use the shared Ray stay in one of them."""
    for item in items:
        if "ray_session" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("ray"))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the user's cache, or another test's."""
    monkeypatch.setenv("RAYDATA_EXT_CACHE", str(tmp_path / "default-cache"))
    monkeypatch.delenv("RAYDATA_EXT_EXECUTOR", raising=False)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


@pytest.fixture(scope="session", autouse=True)
def _own_copies(tmp_path_factory: pytest.TempPathFactory):
    """No test sees the user's copies of remote files, in this process or in those that it starts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAYDATA_EXT_LOCAL_DIR", str(tmp_path_factory.mktemp("copies")))
        yield


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


@pytest.fixture
def wait_until() -> Callable[..., None]:
    """Wait for a condition, and fail if it does not come true."""

    def wait(condition: Callable[[], object], what: str, seconds: float = 60.0) -> None:
        deadline = time.monotonic() + seconds
        pause = threading.Event()
        while not condition():
            assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
            pause.wait(0.02)

    return wait


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Forty small text files in four directories, each of three lines that name it."""
    root = tmp_path / "corpus"
    for number in range(40):
        path = root / f"part{number % 4}" / f"doc{number:02d}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            "".join(f"document {number} line {line} {'x' * number}\n" for line in range(3)), encoding="utf8"
        )
        os.utime(path, ns=(0, 1_700_000_000_123_456_789))  # old enough for its time stamp to be trusted
    return root
