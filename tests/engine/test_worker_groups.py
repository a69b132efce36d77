"""Pools on Ray that follow one another, each for its own steps."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import psutil
import pytest

import raydata_ext as rdx
from raydata_ext.engine import Engine, Silent, run_all

pytestmark = pytest.mark.usefixtures("ray_session")


class Pid:
    """Puts the process that it runs in into a column."""

    def __init__(self, column):
        self.column = column

    def __call__(self, row):
        return {self.column: os.getpid()}


def pid(column):
    return {"function": Pid, "constructor_kwargs": {"column": column}, "version": column}


def run(lazy, workers, progress=None):
    with Engine("ray", workers) as engine:
        [*_, results] = run_all(lazy.plan, lazy.workspace, engine, progress)
        return lazy.make_dataset(results, lazy.workspace)


def test_pools_that_each_want_all_of_the_cluster_follow_one_another(scan):
    lazy = (
        scan.map(**pid("first"))
        .map(**pid("second"), workers=rdx.Workers(max=1, num_cpus=2))
        .map(**pid("third"), workers=rdx.Workers(min=2, max=2, num_cpus=1, stall_timeout=600))
    )
    rows = list(run(lazy, rdx.Workers(min=2, max=2)))
    first, second, third = ({row[name] for row in rows} for name in ("first", "second", "third"))
    assert len(rows) == 40
    assert len(second) == 1
    assert not first & second
    assert not second & third
    assert not any(map(psutil.pid_exists, first | second))


def test_steps_with_the_same_workers_share_their_processes(scan):
    own = rdx.Workers(max=1, num_cpus=0.5)
    rows = run(scan.map(**pid("first"), workers=own).map(**pid("second"), workers=own), 2)
    assert all(row["first"] == row["second"] for row in rows)


def test_the_workers_of_a_later_part_are_those_that_are_there_already(scan):
    own = rdx.Workers(max=1, num_cpus=0.5)
    counted = scan.filter(lambda row: True, workers=own).map(**pid("first"), workers=own)
    rows = run(counted.map(lambda row, index: {"second": os.getpid()}, with_indices=True, workers=own), 2)
    assert len({pid for row in rows for pid in (row["first"], row["second"])}) == 1


class Wait:
    """Waits at one document until a file is there."""

    def __init__(self, document, file):
        self.document, self.file = document, Path(file)

    def __call__(self, row):
        pause = threading.Event()
        while self.document in row["path"] and not self.file.exists():
            pause.wait(0.02)
        return row


class Releasing(Silent):
    """Sees how many workers there are, and lets the last shard end once there is but one."""

    def __init__(self, file):
        self.file, self.most, self.least_after = file, 0, 99

    def watch(self, status):
        self.most = max(self.most, status.workers)
        if self.most == 2 and status.workers == 1:
            self.file.touch()


def test_the_pool_grows_while_work_waits_and_shrinks_when_there_is_none(scan, tmp_path):
    release = tmp_path / "release"
    progress = Releasing(release)
    steps = {"function": Wait, "constructor_kwargs": {"document": "doc13", "file": str(release)}, "version": "1"}
    workers = rdx.Workers(min=1, max=2, max_in_flight=1)  # so that nothing waits behind the document
    assert len(run(scan.map(**steps), workers, progress)) == 40
    assert progress.most == 2
    assert release.exists()


def test_the_last_shards_do_not_wait_behind_a_long_one_while_a_worker_has_nothing_to_do(tmp_path):
    """The first shard ends when the others are done, which they never are if one of them waits behind it."""
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text("x" * (100 - number))
    done = tmp_path / "done"
    done.mkdir()
    scan = rdx.scan_dataset(
        str(tmp_path / "*.txt"), cache_dir=tmp_path / "cache", path_column="path", max_shard_bytes=100
    )
    steps = {"function": WaitForOthers, "constructor_kwargs": {"done": str(done)}, "version": "1"}
    assert len(run(scan.map(**steps), rdx.Workers(min=2, max=2))) == 3


class WaitForOthers:
    """Notes each file, and holds the first one back until the two others are noted."""

    def __init__(self, done):
        self.done = Path(done)

    def __call__(self, row):
        pause = threading.Event()
        while row["path"].endswith("0.txt") and len(list(self.done.iterdir())) < 2:
            pause.wait(0.02)
        (self.done / Path(row["path"]).name).touch()
        return row


def test_a_small_job_looks_for_special_resources_on_ray(scan):
    lazy = scan.map(**pid("first"), workers=rdx.Workers(max=1, resources={"node:__internal_head__": 0.001}))
    assert os.getpid() not in {row["first"] for row in lazy.collect()}
