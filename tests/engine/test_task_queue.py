"""The order in which workers get tasks."""

from __future__ import annotations

import gzip
from types import SimpleNamespace

import pyarrow as pa
import pytest

from raydata_ext.engine import FileTask
from raydata_ext.engine.decode_task import DecodeTask
from raydata_ext.engine.shard_task import ShardTask
from raydata_ext.engine.task_queue import TaskQueue
from raydata_ext.plan import Position, ShardState, StoredShard
from raydata_ext.sources import scan_files
from raydata_ext.store import Receipt, Store, open_directory

OTHER = SimpleNamespace(home="")
"""Any other task, whose input is no host's more than another's."""


@pytest.fixture
def state(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"line\n" * 1000) + b"\0" * 1000)
    [shard] = scan_files(str(tmp_path / "a.txt.gz"), max_shard_bytes=1000).shards
    return ShardState(shard, Position(0, None))


def taken(queue, worker, workers=("a", "b"), **kwargs):
    return queue.take(worker, workers, **kwargs)


def test_tasks_come_in_order():
    queue = TaskQueue([OTHER] * 3)
    assert [taken(queue, "a"), taken(queue, "b"), taken(queue, "a"), taken(queue, "a")] == [0, 1, 2, None]


def test_what_comes_up_goes_before_what_the_run_began_with():
    tasks = [OTHER] * 2
    queue = TaskQueue(tasks)
    assert taken(queue, "a") == 0
    tasks += [OTHER, OTHER]
    queue.take_in()
    assert [taken(queue, "a") for _ in range(4)] == [2, 3, 1, None]


def test_a_task_that_is_put_back_is_the_next_one_once_its_time_has_come():
    queue = TaskQueue([OTHER] * 3)
    assert [taken(queue, "a"), taken(queue, "a")] == [0, 1]
    queue.put_back([0, 1])
    queue.delay(0, 5.0)
    assert [taken(queue, "a", now=4.0), taken(queue, "a", now=5.0), taken(queue, "a")] == [1, 0, 2]


def test_a_stream_goes_on_where_it_is_open(state):
    tasks = [OTHER]
    queue = TaskQueue(tasks)
    tasks.append(DecodeTask(state, "content", 1000, holder="a"))
    queue.take_in()
    assert (queue.has_stream_for("a"), queue.has_stream_for("b")) == (True, False)
    assert [taken(queue, "b"), taken(queue, "b"), taken(queue, "a")] == [0, None, 1]
    assert not queue.has_stream_for("a")


def test_a_stream_whose_worker_is_gone_goes_on_anywhere(state):
    queue = TaskQueue([DecodeTask(state, "content", 1000, holder="a")])
    assert taken(queue, "b", workers=["b", "c"]) == 0


def test_parts_that_wait_go_before_the_stream_that_brings_more_unless_others_are_about_to_take_them(state):
    tasks = []
    queue = TaskQueue(tasks)
    tasks += [OTHER, OTHER, DecodeTask(state, "content", 1000, holder="a")]
    queue.take_in()
    assert taken(queue, "a", leave=1) == 0
    assert taken(queue, "a", leave=1) == 2
    assert taken(queue, "a", leave=1) == 1


def test_the_number_of_parts_to_come_is_estimated_from_the_size(state):
    tasks = [DecodeTask(state, None)]
    queue = TaskQueue(tasks)
    assert queue.num_expected == 1 + 4 * state.shard.num_bytes // 1000
    assert taken(queue, "a") == 0
    assert queue.num_expected == 0
    tasks.append(DecodeTask(state, "content", 0, later=(1000, 2000)))
    queue.take_in()
    assert queue.num_expected == 3


def stored(tmp_path, host):
    receipt = Receipt("0" * 32, 1, 1, "0" * 32, pa.schema([]), worker=f"{host}:1")
    return StoredShard(Store.open(tmp_path), receipt)


def computed(tmp_path, host):
    return ShardTask(ShardState(stored(tmp_path, host), Position(0, 0)))


def written(tmp_path, host):
    return FileTask(open_directory(tmp_path), f"of {host}", (stored(tmp_path, host),), pa.schema([]))


@pytest.mark.parametrize("task", [computed, written])
def test_a_worker_gets_what_its_host_has_before_what_others_have(tmp_path, task):
    queue = TaskQueue([task(tmp_path, host) for host in ("x", "y", "x", "y")])
    workers = ("x:7", "y:8")
    assert [taken(queue, "y:8", workers) for _ in range(3)] == [1, 3, 0]
    assert taken(queue, "y:8", workers) == 2


def test_a_worker_leaves_what_another_host_has_to_the_workers_there_as_long_as_there_is_something_else(tmp_path):
    queue = TaskQueue([computed(tmp_path, host) for host in ("x", "gone", "x", "y")] + [OTHER])
    workers = ("x:7", "y:8", "z:9")
    assert [taken(queue, "z:9", workers) for _ in range(3)] == [1, 4, 0]
    assert [taken(queue, "y:8", workers), taken(queue, "x:7", workers)] == [3, 2]
