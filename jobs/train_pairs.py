"""Train a small translation model for some steps on what `jobs/binarize_pairs.yaml` made.

    raydata-ext run jobs/binarize_pairs.yaml
    python -m jobs.train_pairs --steps 100

It shows the whole way from token columns to a batch: `LanguagePairDataset`, `batch_by_size`, `EpochBatchIterator`.
"""

from __future__ import annotations

import argparse
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from jobs.binarize_pairs import open_pairs
from raydata_ext.errors import RaydataError
from raydata_ext.text.iterators import EpochBatchIterator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from raydata_ext.text.language_pair_dataset import LanguagePairDataset

WIDTH = 64
LEARNING_RATE = 0.01


class Model(torch.nn.Module):  # type: ignore[misc]  # torch is not seen by the type checker
    """Guesses each target word from the mean of the source words and from the word before it.

    Args:
        pairs: gives the dictionaries.
    """

    def __init__(self, pairs: LanguagePairDataset) -> None:
        super().__init__()
        target_dict = pairs.tgt_dict or pairs.src_dict
        self.pad = pairs.src_dict.pad()
        self.source = torch.nn.EmbeddingBag(len(pairs.src_dict), WIDTH, padding_idx=self.pad)
        self.before = torch.nn.Embedding(len(target_dict), WIDTH)
        self.target = torch.nn.Linear(WIDTH, len(target_dict))

    def loss(self, batch: Mapping[str, Any]) -> torch.Tensor:
        """Mean loss of the target words of a batch of `LanguagePairDataset`."""
        net_input = batch["net_input"]
        hidden = self.source(net_input["src_tokens"])[:, None] + self.before(net_input["prev_output_tokens"])
        scores = self.target(hidden).flatten(0, 1)
        return torch.nn.functional.cross_entropy(scores, batch["target"].flatten(), ignore_index=self.pad)


def train(pairs: LanguagePairDataset, steps: int, max_tokens: int, seed: int = 1) -> Iterator[float]:
    """Train a model.

    Args:
        pairs: what it is trained on.
        steps: how many, over as many epochs as that takes.
        max_tokens: tokens of a batch.
        seed: of model and order.

    Yields:
        The loss of each step.
    """
    torch.manual_seed(seed)
    model = Model(pairs)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    rows = pairs.ordered_indices()
    batches = pairs.batch_by_size(rows, max_tokens=max_tokens, required_batch_size_multiple=8)
    epochs = EpochBatchIterator(pairs, pairs.collater, batches, seed=seed)
    every = (batch for _ in range(steps) for batch in epochs.next_epoch_itr())  # each epoch has a step at least
    for batch in islice(every, steps):
        loss = model.loss(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("out/binarize_pairs"))
    parser.add_argument("--dictionaries", type=Path, default=Path("out/binarize_pairs.dictionaries"))
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--max-tokens", type=int, default=2000)
    options = parser.parse_args(arguments)
    try:
        corpus = open_pairs(options.data, options.dictionaries)
    except (OSError, RaydataError) as error:
        parser.exit(1, f"{error}\nThe pairs are made by `raydata-ext run jobs/binarize_pairs.yaml`.\n")
    sys.stdout.write(f"{corpus.summary}\n")
    for step, loss in enumerate(train(corpus.pairs(), options.steps, options.max_tokens), start=1):
        if step == 1 or step % 10 == 0:
            sys.stdout.write(f"step {step}: loss {loss:.3f}\n")


if __name__ == "__main__":
    main()
