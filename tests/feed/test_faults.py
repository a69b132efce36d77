"""Whatever dies, the sequence that is delivered is that of the undisturbed run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from raydata_ext.errors import StepError, WorkerLostError
from raydata_ext.feed import CoordinatorLostError, StreamingCoordinator
from raydata_ext.feed.feed_state import Position
from raydata_ext.feed.plan import FeedPlan
from raydata_ext.feed.prefetch import Prefetcher
from raydata_ext.feed.reader_pool import ReaderPool
from raydata_ext.feed.share import Share

SIZES = [300, 120, 250, 410]
BATCH = 16
STEPS = sum(SIZES) // BATCH
HERE = Path(__file__).parent


def pairs(batch):
    return list(zip(batch.positions.tolist(), [int(x) for x in batch["x"]], strict=True))


def slow_pid(row):
    return {"pid": os.getpid()}


def die_on(row, rows):
    if row["x"] in rows:
        os.kill(os.getpid(), signal.SIGKILL)
    return row


def fail_on(values, row):
    if values["x"] == row:
        raise LookupError(f"no {row}")
    return values


@pytest.fixture
def reference(oracle, shards):
    return list(enumerate(oracle.global_order(shards(SIZES), 1, 0, 20, 8)))[: STEPS * BATCH]


def test_a_coordinator_that_is_killed_goes_on_from_its_books(ray_session, numbered, reference, tmp_path):
    coordinator = StreamingCoordinator.create(
        numbered(SIZES, 1, 20), global_batch_size=BATCH, num_lanes=8, checkpoint_dir=tmp_path, checkpoint_every=5
    )
    feeds = [coordinator.feed(rank, 2) for rank in range(2)]
    loops = [iter(feed) for feed in feeds]
    found = [pair for _ in range(12) for loop in loops for pair in pairs(next(loop))]
    for feed in feeds:
        feed.state_dict()
    ray_session.kill(coordinator._actor, no_restart=False)
    found += [pair for _ in range(10) for loop in loops for pair in pairs(next(loop))]
    status = coordinator.status()
    assert (status["generation"], status["world_size"]) == (0, 2)
    found += [pair for loop in loops for batch in loop for pair in pairs(batch)]
    assert sorted(found) == reference
    assert coordinator.state_dict()["epoch"] == 1
    coordinator.shutdown()


def test_a_new_coordinator_of_the_directory_goes_on_where_the_old_one_was(ray_session, numbered, reference, tmp_path):
    options = {"global_batch_size": BATCH, "num_lanes": 8, "checkpoint_dir": tmp_path, "checkpoint_every": 1}
    first = StreamingCoordinator.create(numbered(SIZES, 1, 20), **options)
    loop = iter(first.feed(0, 1))
    found = [pair for _ in range(9) for pair in pairs(next(loop))]
    loop.close()
    first.shutdown()
    second = StreamingCoordinator.create(numbered(SIZES, 1, 20), **options)
    found += [pair for batch in second.feed(0, 1) for pair in pairs(batch)]
    assert found == reference
    second.shutdown()


def test_feeds_of_a_coordinator_that_is_gone_say_so(ray_session, numbered):
    coordinator = StreamingCoordinator.create(numbered(SIZES, 1, 20), global_batch_size=BATCH, name="to-be-lost")
    loop = iter(coordinator.feed(0, 1))
    next(loop)
    coordinator.shutdown()
    with pytest.raises(CoordinatorLostError, match="coordinator 'to-be-lost' of rank 0 is gone"):
        list(loop)


def test_readers_that_are_killed_are_replaced(ray_session, numbered, reference):
    stream = numbered(SIZES, 1, 20).map(slow_pid)
    coordinator = StreamingCoordinator.create(stream, global_batch_size=BATCH, num_lanes=8)
    found, killed = [], set()
    for batch in coordinator.feed(0, 1, readers=2, prefetch=1):
        found += pairs(batch)
        reader = batch["pid"][0]
        assert reader != os.getpid()
        if batch.step == 3:
            killed.add(reader)
            os.kill(reader, signal.SIGKILL)
    assert killed
    assert found == reference
    coordinator.shutdown()


def test_a_step_that_ends_every_reader_is_named(ray_session, numbered, reference):
    _, row = reference[BATCH * 2 + 1]
    stream = numbered(SIZES, 1, 20).map(die_on, fn_kwargs={"rows": [row]})
    coordinator = StreamingCoordinator.create(stream, global_batch_size=BATCH, num_lanes=8)
    loop = iter(coordinator.feed(0, 1, readers=1))
    with pytest.raises(WorkerLostError, match="the reader of step"):
        list(loop)
    coordinator.shutdown()


@pytest.mark.parametrize("readers", [0, 1])
def test_an_error_of_the_users_function_is_the_same_whoever_reads(ray_session, numbered, readers):
    stream = numbered(SIZES, 1, 20).map(fail_on, fn_kwargs={"row": 700})
    coordinator = StreamingCoordinator.create(stream, global_batch_size=BATCH, num_lanes=8)
    with pytest.raises(StepError, match="no 700") as raised:
        list(coordinator.feed(0, 1, readers=readers))
    assert type(raised.value) is StepError
    coordinator.shutdown()


@pytest.mark.timeout(60)
def test_a_loop_whose_readers_find_no_cpu_can_be_left(ray_session, numbered):
    plan = FeedPlan.of(numbered(SIZES, 1, 20), global_batch_size=BATCH, num_lanes=8)
    pool = ReaderPool(plan, Position(), Share(0, 1, 8, BATCH), 3)  # there are two CPUs
    ahead = Prefetcher(iter(pool), 8)
    assert [next(ahead).step for _ in range(2)] == [0, 1]
    pool.close()
    ahead.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "feed-prefetch"]


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("script", "found"),
    [("node_loss.py", {"same": True, "lost": True}), ("reader_node_loss.py", {"same": True})],
    ids=["of a trainer", "of readers"],
)
def test_a_lost_node_takes_neither_rows_nor_order(tmp_path, script, found):
    done = subprocess.run(
        [sys.executable, HERE / script, tmp_path], capture_output=True, text=True, timeout=110, check=False
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-3000:]}"
    assert json.loads(lines[-1]) == found
