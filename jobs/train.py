"""Train a small language model on the tokens of the quickstart, on any number of workers, and go on after any crash.

    raydata-ext run jobs/quickstart.yaml
    python -m jobs.train --workers 4

Kill it and start it again, with another number of workers: it goes on from its last checkpoint with the rows, in the
order, that an undisturbed run has. Each worker computes the gradient of its part of a batch, and the driver adds them
up.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import ray
import torch
from rich.console import Console

import raydata_ext as rdx
from raydata_ext.engine.ray_cluster import RayCluster
from raydata_ext.feed import StreamingCoordinator, TrainerFeed, merge_states, pack
from raydata_ext.store.atomic_files import write_file_atomically
from raydata_ext.streaming import IterableDataset

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

VOCABULARY = 259
LEARNING_RATE = 0.5
SHOW_EVERY = 100


@dataclass(frozen=True)
class Settings:
    """What is trained, and how.

    Attributes:
        data: dataset directory with a column `input_ids`.
        run: directory of the log and the checkpoint.
        workers: Ray actors that compute gradients.
        batch: sequences of a step, over all workers.
        seq_length: tokens of a sequence.
        epochs: passes over the data.
        checkpoint_every: steps between two checkpoints.
        seed: of model and order.
        cache_dir: where the packed sequences are kept.
    """

    data: Path
    run: Path
    workers: int
    batch: int = 32
    seq_length: int = 128
    epochs: int = 1
    checkpoint_every: int = 10
    seed: int = 0
    cache_dir: Path | None = None


class Model(torch.nn.Module):  # type: ignore[misc]  # torch is not seen by the type checker
    """Predicts each token from the one before it."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, 32)
        self.output = torch.nn.Linear(32, VOCABULARY)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Sum of the losses of all tokens but the first of each sequence.

        Args:
            ids: int64, shape (sequences, seq_length).
        """
        logits = self.output(self.embedding(ids[:, :-1]))
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="sum")


class Worker:
    """Computes gradients on the batches of one rank.

    Args:
        feed: the batches.
    """

    def __init__(self, feed: TrainerFeed) -> None:
        torch.set_num_threads(1)
        self.feed = feed
        self.model = Model()
        self.batches = iter(feed.to_torch())

    def step(self, weights: Arrays) -> dict[str, Any] | None:
        """Gradient and loss of the next batch, summed over its tokens, and which rows it had; None at the end of the
        epoch.

        Args:
            weights: of the model.
        """
        batch = next(self.batches, None)
        if batch is None:
            self.batches = iter(self.feed.to_torch())
            return None
        self.model.load_state_dict({name: torch.tensor(values) for name, values in weights.items()})
        self.model.zero_grad()
        ids = batch["input_ids"].long()
        loss = self.model(ids)
        loss.backward()
        return {
            "loss": loss.item(),
            "tokens": ids[:, 1:].numel(),
            "gradient": {name: value.grad.numpy() for name, value in self.model.named_parameters()},
            "rows": list(zip(batch["positions"].tolist(), batch["row"].tolist(), strict=True)),
        }

    def state(self) -> dict[str, Any]:
        """Position of the feed."""
        return self.feed.state_dict()


def numbered(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Give a row its number, for the log."""
    return {**row, "row": number}


def sequences(settings: Settings) -> IterableDataset:
    """The packed tokens as a shuffled stream. Packing is done once and kept in the cache."""
    packed = (
        rdx.load_from_disk(settings.data, cache_dir=settings.cache_dir)
        .select_columns(["input_ids"])
        .lazy()
        .map(
            pack(settings.seq_length, document_ids=False),
            batched=True,
            batch_size=None,
            batch_format="numpy",
            remove_columns="input_ids",
        )
        .map(numbered, with_indices=True)
        .collect(executor="inline")
    )
    stream = IterableDataset.from_shards(packed.shards)
    return stream.shuffle(settings.seed, buffer_size=1000).with_format("torch")


class Training:
    """The run: weights, log and checkpoint.

    Args:
        settings: what is trained.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        settings.run.mkdir(parents=True, exist_ok=True)
        self.log = settings.run / "log.jsonl"
        self.checkpoint = settings.run / "checkpoint.json"
        torch.manual_seed(settings.seed)
        self.weights = {name: value.numpy() for name, value in Model().state_dict().items()}
        self.state: dict[str, Any] | None = None
        if self.checkpoint.exists():
            saved = json.loads(self.checkpoint.read_text())
            self.weights = {name: np.array(values, np.float32) for name, values in saved["weights"].items()}
            self.state = saved["state"]
        self._forget_what_comes_after()

    def run(self) -> None:
        """Train from the checkpoint on to the end."""
        settings = self.settings
        stream = sequences(settings)
        coordinator = StreamingCoordinator.create(
            stream, global_batch_size=settings.batch, end_of_epoch="drop", state=self.state
        )
        make = ray.remote(Worker).options(num_cpus=0)
        workers = [make.remote(coordinator.feed(rank, settings.workers)) for rank in range(settings.workers)]
        epoch, step = (0, 0) if self.state is None else (self.state["epoch"], self.state["step"])
        while epoch < settings.epochs:
            weights = ray.put(self.weights)
            parts = ray.get([worker.step.remote(weights) for worker in workers])
            if None in parts:
                epoch, step = epoch + 1, 0
                continue
            self._learn(epoch, step, parts)
            step += 1
            if step % settings.checkpoint_every == 0:
                self._save(merge_states(ray.get([worker.state.remote() for worker in workers])))
        coordinator.shutdown()

    def _learn(self, epoch: int, step: int, parts: Sequence[Mapping[str, Any]]) -> None:
        tokens = sum(part["tokens"] for part in parts)
        for name, values in self.weights.items():
            gradient = sum(part["gradient"][name].astype(np.float64) for part in parts) / tokens
            self.weights[name] = (values - LEARNING_RATE * gradient).astype(np.float32)
        line = {
            "epoch": epoch,
            "step": step,
            "loss": sum(part["loss"] for part in parts) / tokens,
            "rows": sorted(row for part in parts for row in part["rows"]),
        }
        with self.log.open("a") as log:
            log.write(json.dumps(line) + "\n")
        if step % SHOW_EVERY == 0:
            Console().print(f"epoch {epoch}, step {step}: loss {line['loss']:.3f}", highlight=False)

    def _save(self, state: dict[str, Any]) -> None:
        weights = {name: values.tolist() for name, values in self.weights.items()}
        write_file_atomically(self.checkpoint, json.dumps({"state": state, "weights": weights}).encode())
        self.state = state

    def _forget_what_comes_after(self) -> None:
        """Take out of the log what was done after the checkpoint, for it is done again."""
        if not self.log.exists():
            return
        until = (0, 0) if self.state is None else (self.state["epoch"], self.state["step"])
        kept = []
        for line in self.log.read_text().splitlines(keepends=True):
            if not line.endswith("\n"):
                break  # it was killed while it wrote this
            entry = json.loads(line)
            if (entry["epoch"], entry["step"]) < until:
                kept.append(line)
        write_file_atomically(self.log, "".join(kept).encode())


def settings_of(arguments: Sequence[str] | None, description: str | None) -> Settings:
    """The settings that a command line gives; None is that of this process."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("out/quickstart"))
    parser.add_argument("--run", type=Path, default=Path("out/train"))
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seq-length", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--checkpoint-every", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache-dir", type=Path, default=None)
    return Settings(**vars(parser.parse_args(arguments)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, as the command line says."""
    settings = settings_of(arguments, __doc__)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    RayCluster()
    Training(settings).run()
    ray.shutdown()


if __name__ == "__main__":
    main()
