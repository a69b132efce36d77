"""Train a small language model with Ray Train on the tokens of the quickstart, and go on after any crash.

    raydata-ext run jobs/quickstart.yaml
    python -m jobs.ray_train --workers 2

A checkpoint of Ray Train holds the model and the position of the feed. Where a worker dies, Ray Train starts all of
them again from the last one; and where everything died, the same command goes on from it, with any number of workers.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ray
import torch
from ray.train import Checkpoint, CheckpointConfig, FailureConfig, Result, RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer, prepare_model

from jobs.train import LEARNING_RATE, Model, Settings, sequences, settings_of
from raydata_ext.engine.ray_cluster import RayCluster
from raydata_ext.feed import StreamingCoordinator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raydata_ext.feed.torch_feed import TorchFeed

MODEL_FILE, FEED_FILE = "model.pt", "feed.json"


def train(settings: Settings) -> Result:
    """Train from the last checkpoint on, if there is one, to the end.

    Args:
        settings: what is trained. Ray Train keeps its checkpoints in the directory of the run.
    """
    settings.run.mkdir(parents=True, exist_ok=True)
    coordinator = StreamingCoordinator.create(sequences(settings), global_batch_size=settings.batch)
    trainer = TorchTrainer(
        train_loop,
        train_loop_config={"coordinator": coordinator, "start": coordinator.state_dict(), "settings": settings},
        scaling_config=ScalingConfig(num_workers=settings.workers),
        run_config=RunConfig(
            name="checkpoints",
            storage_path=str(settings.run.resolve()),
            failure_config=FailureConfig(max_failures=3),
            checkpoint_config=CheckpointConfig(num_to_keep=2),
        ),
    )
    result = trainer.fit()
    coordinator.shutdown()
    return result


def train_loop(config: dict[str, Any]) -> None:
    """Train on the batches of one rank.

    Args:
        config: the `coordinator` of the feed, the state at its `start`, and the `settings` of the run.
    """
    settings: Settings = config["settings"]
    context = ray.train.get_context()
    feed = config["coordinator"].feed(context.get_world_rank(), context.get_world_size()).to_torch()
    torch.manual_seed(settings.seed)
    model = Model()
    checkpoint = ray.train.get_checkpoint()
    if checkpoint is None:
        feed.load_state_dict(config["start"])  # workers that died before the first checkpoint may have come further
    else:
        with checkpoint.as_directory() as directory:
            model.load_state_dict(torch.load(Path(directory, MODEL_FILE), weights_only=True))
            feed.load_state_dict(json.loads(Path(directory, FEED_FILE).read_text()))
    parallel = prepare_model(model)
    optimizer = torch.optim.SGD(model.parameters(), LEARNING_RATE)
    steps = 0
    with Path(settings.run, f"rows-{os.getpid()}.jsonl").open("a") as log:
        while (epoch := feed.feed.epoch) < settings.epochs:
            for batch in feed:
                ids = batch["input_ids"].long()
                loss = parallel(ids) / ids[:, 1:].numel()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                rows = list(zip(batch["positions"].tolist(), batch["row"].tolist(), strict=True))
                print(json.dumps({"epoch": epoch, "loss": loss.item(), "rows": rows}), file=log, flush=True)
                steps += 1
                if steps % settings.checkpoint_every == 0:
                    _report(loss.item(), model, feed)
            _report(loss.item(), model, feed)


def _report(loss: float, model: Model, feed: TorchFeed) -> None:
    """Tell the loss, and write a checkpoint: all ranks have the same model and position, and so the first one does."""
    if feed.feed.rank:
        ray.train.report({"loss": loss})
        return
    with tempfile.TemporaryDirectory() as directory:
        torch.save(model.state_dict(), Path(directory, MODEL_FILE))
        Path(directory, FEED_FILE).write_text(json.dumps(feed.state_dict()))
        ray.train.report({"loss": loss}, checkpoint=Checkpoint.from_directory(directory))


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, as the command line says."""
    settings = settings_of(arguments, __doc__)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    RayCluster()
    train(settings)
    ray.shutdown()


if __name__ == "__main__":
    main()
