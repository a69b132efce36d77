"""A disk that runs full ends the run with a clear error, and what was finished before stays valid."""

from __future__ import annotations

import os
import subprocess

import pytest

import raydata_ext as rdx
from raydata_ext.errors import WriteError
from raydata_ext.store import Store, collect_garbage


@pytest.fixture
def small_disk(tmp_path):
    path = tmp_path / "small"
    path.mkdir()
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", path], check=False).returncode:
        pytest.skip("mounting a small file system needs root")
    yield path
    subprocess.run(["umount", "-l", path], check=True)


@pytest.mark.parametrize("executor", ["inline", "ray"])
@pytest.mark.usefixtures("ray_session")
def test_finished_shards_stay_valid_and_the_rest_follows_once_there_is_room(corpus, small_disk, executor, wait_until):
    scan = rdx.scan_dataset(
        str(corpus / "**" / "*.txt"), format="text", unit="file", max_shard_bytes="20KB", cache_dir=small_disk
    )
    lazy = scan.map(lambda row: {"blob": "x" * 60_000})
    with pytest.raises(WriteError, match="No space left on device"):
        lazy.collect(executor=executor, workers=2)
    finished = len(list(small_disk.glob("??/*.json")))
    assert finished > 0
    wait_until(lambda: not leftovers(small_disk), "files of workers that were ended to be swept")
    subprocess.run(["mount", "-o", "remount,size=20m", small_disk], check=True)
    assert lazy.explain().hits == finished
    assert len(lazy.collect(executor="inline")) == 40


def leftovers(cache):
    """Temporary files, after those of processes that are gone were swept, as of a worker that was ended as it wrote."""
    collect_garbage(Store.open(cache), dry_run=False)
    return list(cache.rglob("*.tmp"))
