"""The example for Ray Train, whose workers are killed, ends with the rows of an undisturbed run."""

from __future__ import annotations

import contextlib
import itertools
import json
import threading

import numpy as np
import psutil
import pytest

from raydata_ext.dataset import Dataset
from raydata_ext.feed.plan import FeedPlan
from raydata_ext.feed.rank_batches import rank_batches
from raydata_ext.feed.share import Share

torch = pytest.importorskip("torch")
ray_train = pytest.importorskip("jobs.ray_train")
train_job = pytest.importorskip("jobs.train")

BATCH, EVERY, STEPS = 12, 14, 42


@pytest.fixture
def settings(tmp_path):
    """Make the settings of a run over documents of byte tokens."""
    sizes = np.random.default_rng(1).integers(10, 400, size=80).tolist()
    rows = [((size + np.arange(size)) % 256 + 3).astype(np.int32) for size in sizes]
    data, cache = tmp_path / "data", tmp_path / "cache"
    Dataset.from_dict({"input_ids": rows}, cache_dir=cache).save_to_disk(data, executor="inline")

    def make(workers, epochs):
        options = {"batch": BATCH, "seq_length": 32, "checkpoint_every": EVERY, "cache_dir": cache}
        return train_job.Settings(data, tmp_path / "run", workers, epochs=epochs, **options)

    return make


def lines_of(path):
    """What a worker wrote, but for the line that it was killed at."""
    return [json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]


def rows_of(run):
    """Row of each (epoch, position); rows that were trained on again must be the same."""
    found = {}
    for path in run.glob("rows-*.jsonl"):
        for entry in lines_of(path):
            for position, row in entry["rows"]:
                assert found.setdefault((entry["epoch"], position), row) == row
    return found


def losses_of(run):
    """Loss of each (epoch, step), over all ranks; steps that were done again must have the same."""
    parts = {}
    for path in run.glob("rows-*.jsonl"):
        for entry in lines_of(path):
            part = entry["epoch"], entry["rows"][0][0]
            assert parts.setdefault(part, entry["loss"]) == pytest.approx(entry["loss"], rel=1e-4)
    found = {}
    for (epoch, position), loss in sorted(parts.items()):
        found.setdefault((epoch, position // BATCH), []).append(loss)
    return {step: np.mean(losses) for step, losses in found.items()}


def undisturbed(settings):
    """Row of each (epoch, position), and loss of each (epoch, step), with one rank and without Ray Train."""
    plan = FeedPlan.of(train_job.sequences(settings), global_batch_size=settings.batch)
    torch.manual_seed(settings.seed)
    model = train_job.Model()
    optimizer = torch.optim.SGD(model.parameters(), train_job.LEARNING_RATE)
    rows, losses = {}, {}
    for epoch in range(settings.epochs):
        for batch in rank_batches(plan.epoch(epoch), Share(0, 1, plan.num_lanes, settings.batch)):
            places = zip(itertools.repeat(epoch), batch.positions.tolist(), strict=False)
            rows |= dict(zip(places, batch.rows.column("row").to_pylist(), strict=True))
            ids = torch.tensor(batch.rows.column("input_ids").to_pylist())
            loss = model(ids) / ids[:, 1:].numel()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses[epoch, batch.step] = loss.item()
    return rows, losses


def kill_workers(run, wait_until):
    """Kill all workers of Ray Train once there is a checkpoint and they have gone on from it."""

    def are_beyond_a_checkpoint():
        done = [len(lines_of(path)) for path in run.glob("rows-*.jsonl")]
        has_one = (run / "checkpoints" / "checkpoint_manager_snapshot.json").exists()  # Ray Train goes by it
        return has_one and len(done) == 2 and min(done) > EVERY

    wait_until(are_beyond_a_checkpoint, "a checkpoint", 120)
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.name().startswith("ray::RayTrain"):
                process.kill()


@pytest.mark.slow  # Ray Train takes two seconds for each checkpoint, and seconds to start workers
@pytest.mark.timeout(300)
def test_workers_that_are_killed_and_then_another_number_of_them_go_on_as_if_undisturbed(
    ray_session, settings, wait_until
):
    first = settings(2, 3)
    killer = threading.Thread(target=kill_workers, args=(first.run, wait_until))
    killer.start()
    assert ray_train.train(first).error is None
    killer.join()
    written = {path: lines_of(path) for path in first.run.glob("rows-*.jsonl")}
    assert len(written) == 4
    assert all(len(lines) < 3 * STEPS for lines in written.values())  # those that came later did not begin anew
    second = settings(1, 4)
    result = ray_train.train(second)
    rows, losses = undisturbed(second)
    assert rows_of(first.run) == rows
    assert losses_of(first.run) == pytest.approx(losses, rel=1e-4)
    [last] = [lines_of(path) for path in first.run.glob("rows-*.jsonl") if path not in written]
    assert {entry["epoch"] for entry in last} == {3}
    assert result.metrics["loss"] < written[max(written, key=lambda path: len(written[path]))][0]["loss"]
