"""The pool of Ray actors, under load and under fire."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

import raydata_ext as rdx
from raydata_ext.engine import Engine, run_all
from raydata_ext.engine.visibility import Sight
from raydata_ext.errors import PlanError, StepError, WorkerLostError

pytestmark = pytest.mark.usefixtures("ray_session")


def length(row):
    return {"length": len(row["text"])}


class DieOnce:
    """Ends its process the first time it sees a document, in one of several ways."""

    def __init__(self, way, marker):
        self.way, self.marker = way, marker

    def __call__(self, row):
        if "doc13" in row["path"] and not Path(self.marker).exists():
            Path(self.marker).touch()
            if self.way == "exit":
                os._exit(7)
            if self.way == "kill":
                os.kill(os.getpid(), 9)
            if self.way == "sys.exit":
                sys.exit(0)
        return length(row)


class DieAlways:
    def __init__(self, log):
        self.log = log

    def __call__(self, row):
        if "doc13" in row["path"]:
            with Path(self.log).open("a") as log:
                log.write("x")
            os._exit(1)
        return length(row)


class Raise:
    def __init__(self, log):
        self.log = log

    def __call__(self, row):
        with Path(self.log).open("a") as log:
            log.write("x")
        raise KeyError("missing")


class CannotBeBuilt:
    def __init__(self):
        raise RuntimeError("no model here")

    def __call__(self, row):
        return row


def rows(dataset):
    return [(row["path"], row["length"]) for row in dataset]


def test_order_and_rows_are_those_of_the_inline_executor(scan, tmp_path):
    ours = scan.map(length).collect(executor="ray", workers=2)
    inline = rdx.scan_dataset(
        str(tmp_path / "corpus" / "**" / "*.txt"), format="text", unit="file", path_column="path",
        max_shard_bytes="20KB", cache_dir=tmp_path / "other",
    ).map(length).collect(executor="inline")  # fmt: skip
    assert rows(ours) == rows(inline)
    assert ours.fingerprint == inline.fingerprint
    assert len(ours) == 40


@pytest.mark.parametrize("way", ["exit", "kill", "sys.exit"])
def test_a_worker_that_dies_is_replaced_and_its_shards_are_done_again(scan, tmp_path, way):
    dying = DieOnce(way, str(tmp_path / "marker"))
    dataset = scan.map(dying, version="1").collect(executor="ray", workers=2)
    assert (tmp_path / "marker").exists()
    assert rows(dataset) == rows(scan.map(length).collect(executor="inline"))


def test_a_shard_that_kills_every_worker_ends_the_run_and_is_named(scan, tmp_path):
    log = tmp_path / "log"
    with pytest.raises(WorkerLostError, match=r"doc\d\d\.txt.*died in each of 3 attempts"):
        scan.map(DieAlways(str(log)), version="1").collect(executor="ray", workers=2)
    assert log.read_text() == "xxx"


def test_a_user_exception_is_raised_once_and_never_retried(scan, tmp_path):
    log = tmp_path / "log"
    with pytest.raises(StepError, match=r"step 1 `Raise`: .*row 0: KeyError: 'missing'"):
        scan.map(Raise(str(log)), version="1").collect(executor="ray", workers=1)
    assert len(log.read_text()) <= 2


def test_a_class_that_cannot_be_built_is_a_step_error(scan):
    with pytest.raises(StepError, match=r"step 1 `CannotBeBuilt`.*no model here"):
        scan.map(CannotBeBuilt).collect(executor="ray", workers=1)


def test_more_workers_than_the_cluster_can_place_are_no_obstacle(scan):
    assert len(scan.map(length, version="many").collect(executor="ray", workers=4)) == 40


def slowly(row):
    time.sleep(0.2)
    return length(row)


def test_workers_that_wait_for_a_place_are_reported_with_what_they_need_and_what_there_is(scan, monkeypatch, caplog):
    monkeypatch.setattr("raydata_ext.engine.ray_pool.PLACEMENT_WARNING_SECONDS", 0.5)
    dataset = scan.map(slowly, version="waiting").collect(executor="ray", workers=5)
    assert len(dataset) == 40
    (warning,) = [record.getMessage() for record in caplog.records if "wait for a place" in record.message]
    assert re.match(
        r"\d of 5 workers wait for a place in the cluster \(each needs CPU 1; all nodes .* CPU 2\)", warning
    )


def test_workers_that_can_be_placed_nowhere_end_the_run_and_say_what_is_missing(scan):
    nowhere = rdx.Workers(resources={"unobtainium": 1}, start_timeout=2)
    with pytest.raises(WorkerLostError, match=r"no worker could be placed within \d+ s: .*unobtainium.*ask for less"):
        scan.map(length, version="nowhere").collect(executor="ray", workers=nowhere)


def mapped_files(pid="self"):
    """Files of the cache that a process has mapped, with the address of each."""
    lines = [line.split(maxsplit=5) for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
    return [(line[5], line[0]) for line in lines if len(line) > 5 and line[5].endswith(".arrow")]


def look_around(batch):
    return {"pid": [os.getpid()] * len(batch["text"]), "maps": [mapped_files()] * len(batch["text"])}


@pytest.mark.parametrize("order", ["as it is", "shuffled"])
def test_a_worker_maps_its_input_once_a_shard_and_lets_go_of_it(tmp_path, order):
    for number in range(24):
        (tmp_path / f"{number}.txt").write_text("".join(f"{number} {row}\n" for row in range(3000)))
    scan = rdx.scan_dataset(str(tmp_path / "*.txt"), max_shard_bytes="25KB", cache_dir=tmp_path / "cache")
    lines = scan.collect(executor="inline")
    files = len(lines.cache_files)
    assert files > 20
    if order == "shuffled":
        lines = lines.shuffle(seed=1)
    seen = lines.map(
        look_around, batched=True, batch_size=500, remove_columns="text", executor="ray", workers=2, version="1"
    )
    looks = [(row["pid"], [tuple(one) for one in row["maps"]]) for row in seen.select(range(0, len(seen), 500))]
    for pid in {pid for pid, _ in looks}:
        mine = [maps for other, maps in looks if other == pid]
        if order == "shuffled":
            assert max(map(len, mine)) <= files
            assert len({one for maps in mine for one in maps}) == max(map(len, mine))
        else:
            assert {len(maps) for maps in mine} == {1}
            assert len({maps[0] for maps in mine}) == len({maps[0][0] for maps in mine}) > 1


@pytest.fixture
def shuffled(tmp_path, monkeypatch):
    """A shuffled data set of six files and more than a dozen shards, each of which has rows of all files."""
    monkeypatch.setattr("raydata_ext.dataset.base.MAX_SHARD_BYTES", 4_000)
    for number in range(6):
        (tmp_path / f"{number}.txt").write_text("".join(f"{number} {row}\n" for row in range(1000)))
    scan = rdx.scan_dataset(str(tmp_path / "*.txt"), max_shard_bytes="7KB", cache_dir=tmp_path / "cache")
    lines = scan.collect(executor="inline").shuffle(seed=1)
    assert len(lines.cache_files) == 6
    assert len(lines.shards) > 12
    return lines


def files_opened(batch):
    """How many files tables of this process have opened since its first batch, for which all were opened."""
    from raydata_ext.table import memory_mapped

    if not hasattr(memory_mapped, "opened"):
        memory_mapped.opened, opens = 0, memory_mapped.open_ipc_file

        def open_and_count(*arguments, **options):
            memory_mapped.opened += 1
            return opens(*arguments, **options)

        memory_mapped.open_ipc_file = open_and_count
    return {"opened": [memory_mapped.opened] * len(batch["text"])}


def test_a_worker_opens_the_files_of_a_shuffled_data_set_once_for_all_its_shards(shuffled):
    seen = shuffled.map(files_opened, batched=True, remove_columns="text", executor="ray", workers=2, version="1")
    assert set(seen["opened"]) == {0}
    assert len(seen) == 6000


def test_a_worker_that_has_nothing_to_do_lets_go_of_the_files_that_shards_share(shuffled, wait_until):
    plan = shuffled.lazy().map(lambda row: {"n": 1})
    with Engine("ray", workers=1) as engine:
        [results] = run_all(plan.plan, plan.workspace, engine)
        pid = results[0].done.value.worker.rpartition(":")[2]
        wait_until(lambda: not mapped_files(pid), f"process {pid} to let go of {mapped_files(pid)}")
        assert Path(f"/proc/{pid}").exists()


def test_only_recipes_and_receipts_go_through_the_object_store(scan, ray_session):
    before = ray_session.available_resources().get("object_store_memory")
    big = scan.map(lambda row: {"blob": "x" * 1_000_000}, version="big")
    dataset = big.collect(executor="ray", workers=2)
    after = ray_session.available_resources().get("object_store_memory")
    assert len(dataset) == 40
    assert before - after < 1_000_000


def test_code_that_a_worker_cannot_import_is_named(scan, tmp_path, monkeypatch):
    module = tmp_path / "vanishing_steps.py"
    module.write_text("def length(row):\n    return {'length': len(row['text'])}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import vanishing_steps

    module.unlink()
    with pytest.raises(PlanError, match="vanishing_steps"):
        scan.map(vanishing_steps.length, version="1").collect(executor="ray", workers=1)


class Hang:
    def __call__(self, row):
        if "doc13" in row["path"]:
            while True:
                time.sleep(0.1)
        return length(row)


def test_a_worker_that_moves_nothing_is_named_with_its_node_and_how_far_it_got(scan):
    workers = rdx.Workers(min=1, max=2, max_attempts=1, stall_timeout=5)
    with pytest.raises(WorkerLostError, match=r"doc\d\d\.txt.*it made no progress for \d+ s on node \w+, "):
        scan.map(Hang, version="1").collect(executor="ray", workers=workers)


def test_a_node_that_does_not_see_the_cache_ends_the_run(scan, monkeypatch):
    monkeypatch.setattr("raydata_ext.engine.ray_pool.sight_of", blind_sight)
    with pytest.raises(PlanError, match=r"node .* does not see /nowhere"):
        scan.map(length, version="blind").collect(executor="ray", workers=1)


def test_a_worker_that_starts_during_a_later_run_looks_for_what_that_run_needs(scan, ray_session, tmp_path):
    occupant = ray_session.remote(num_cpus=1)(Occupant).remote()
    ray_session.get(occupant.ready.remote())
    with Engine("ray", workers=2) as engine:
        first = scan.map(length)
        run_all(first.plan, first.workspace, engine)  # by one worker: the other waits for a place
        shutil.rmtree(tmp_path / "cache")
        ray_session.kill(occupant)
        second = scan.map(met_another, fn_kwargs={"place": str(tmp_path)})
        elsewhere = rdx.Workspace(tmp_path / "elsewhere")
        [results] = run_all(second.plan, elsewhere, engine)
    assert len({result.done.value.worker for result in results}) == 2


class Occupant:
    def ready(self):
        return True


def met_another(row, place):
    """Waits until two processes work on rows."""
    (Path(place) / f"process-{os.getpid()}").touch()
    deadline = time.monotonic() + 60
    while len(list(Path(place).glob("process-*"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return length(row)


@contextlib.contextmanager
def blind_sight(cache_dir, inputs):
    yield Sight("/nowhere/.mark", "token")


def test_workers_that_are_only_slow_to_start_are_not_said_to_wait(scan, ray_session, wait_until, monkeypatch, caplog):
    monkeypatch.setattr("raydata_ext.engine.ray_pool.PLACEMENT_WARNING_SECONDS", 0.0)
    wait_until(lambda: ray_session.available_resources().get("CPU") == 2.0, "the actors of other tests to be gone")
    assert len(scan.map(length, version="slow start").collect(executor="ray", workers=2)) == 40
    assert "wait for a place" not in caplog.text


class Ending(BaseException):
    """What a handler of a signal raises."""


def signal_and_wait(row, pid):
    """Sends the driver a signal, once, while it waits for this, which the end of the worker ends."""
    os.kill(pid, signal.SIGUSR1)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        time.sleep(0.02)
    raise AssertionError("the driver goes on")


def test_what_a_handler_of_a_signal_raises_ends_the_run_as_it_is(scan):
    def end(number, frame):
        raise Ending

    before = signal.signal(signal.SIGUSR1, end)
    try:
        with pytest.raises(Ending):
            scan.map(signal_and_wait, fn_kwargs={"pid": os.getpid()}).collect(executor="ray", workers=1)
    finally:
        signal.signal(signal.SIGUSR1, before)


def interrupt(row):
    raise KeyboardInterrupt


def speak_no_unicode(row):
    raise ValueError("caf\udce9")


@pytest.mark.parametrize(
    ("function", "said"),
    [(interrupt, r"files\): KeyboardInterrupt"), (speak_no_unicode, r"row 0: ValueError: caf\\xe9")],
)
def test_whatever_a_function_raises_is_its_failure_and_not_one_of_its_worker(scan, function, said):
    with pytest.raises(StepError, match=said) as caught:
        scan.map(function).collect(executor="ray", workers=1)
    assert function.__name__ in str(caught.value)


def test_a_step_that_cannot_be_sent_to_workers_is_named(scan):
    lock = threading.Lock()

    def locked(row):
        with lock:
            return length(row)

    with pytest.raises(
        PlanError, match=r"step 1 `locked` cannot be sent to a worker: cannot pickle .*lock.* give a class"
    ):
        scan.map(locked, version="1").collect(executor="ray", workers=1)


def resource(place, *, fails=False):
    """A class that notes that it was built and torn down, and fails at the latter if it is told so."""

    class Resource:
        def __init__(self):
            self.note = place / f"{os.getpid()}.open"
            self.note.touch()

        def __call__(self, row):
            return length(row)

        def teardown(self):
            self.note.rename(self.note.with_suffix(".closed"))
            if fails:
                raise OSError("cannot flush")

    return Resource


def test_workers_that_the_pool_ends_early_are_torn_down_as_well(scan, tmp_path):
    lazy = scan.map(resource(tmp_path), version="1")
    assert len(lazy.collect(executor="ray", workers=rdx.Workers(min=1, max=2))) == 40
    assert list(tmp_path.glob("*.closed"))
    assert not list(tmp_path.glob("*.open"))


@pytest.mark.parametrize("executor", ["ray", "inline"])
def test_a_teardown_that_fails_ends_the_run_with_all_results_kept(scan, tmp_path, executor):
    lazy = scan.map(resource(tmp_path, fails=True), version="1")
    with pytest.raises(StepError, match="step 1 `Resource`: teardown: OSError: cannot flush"):
        lazy.collect(executor=executor, workers=1)
    assert len(lazy.collect(executor=executor, workers=1)) == 40
