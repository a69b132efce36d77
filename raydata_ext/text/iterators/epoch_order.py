"""The order of batches in an epoch, as a pure function of seed and epoch.

One order holds for all shards. It is dealt out in turn: with S shards, shard s takes places s, s + S, s + 2 S, ...
After k steps the places before k S are done, whichever shard did them. So a *position*, the number of places done, says
all, and any number of shards can go on from it.

Source: `EpochBatchIterator` of fairseq, whose order this is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_BATCH = -1
"""Stands in an order where a shard has no batch."""


@dataclass(frozen=True)
class EpochOrder:
    """How the batches of an epoch are ordered.

    Attributes:
        seed: of the whole training.
        epoch: number of the epoch.
        shuffle: whether batches are shuffled.
        fixed_shards: keep each batch with one of so many shards in all epochs, and shuffle within each; 0 is not to.
        group: shuffle runs of so many batches as a whole; what is left over comes last.
    """

    seed: int
    epoch: int
    shuffle: bool = True
    fixed_shards: int = 0
    group: int = 1

    def places(self, num_batches: int) -> NDArray[np.int64]:
        """The number of the batch in each place, or `NO_BATCH`; shape (places,)."""
        if self.fixed_shards:
            return self._by_shard(num_batches)
        batches = np.arange(num_batches)
        if not self.shuffle:
            return batches
        groups = num_batches // self.group
        shuffled = batches[: groups * self.group].reshape(groups, self.group)[self._permutation(0, groups)]
        return np.concatenate([shuffled.reshape(-1), batches[groups * self.group :]])

    def _by_shard(self, num_batches: int) -> NDArray[np.int64]:
        steps = -(-num_batches // self.fixed_shards)
        places = np.full(steps * self.fixed_shards, NO_BATCH)
        places[:num_batches] = np.arange(num_batches)
        by_step = places.reshape(steps, self.fixed_shards)
        if self.shuffle:
            for shard in range(self.fixed_shards):
                by_step[:, shard] = by_step[self._permutation(shard, steps), shard]
        return by_step.reshape(-1)

    def _permutation(self, shard: int, count: int) -> NDArray[np.int64]:
        return np.random.RandomState(self.seed + self.epoch + shard).permutation(count)


def share(places: NDArray[np.int64], num_shards: int, shard_id: int, *, drop_last: bool) -> NDArray[np.int64]:
    """The batches that one shard takes, equally many for each shard.

    Args:
        places: the places that are left of an order.
        num_shards: how many shards there are.
        shard_id: which of them.
        drop_last: leave out the last step where not every shard has a place in it; else those have `NO_BATCH`.
    """
    steps = len(places) // num_shards if drop_last else -(-len(places) // num_shards)
    mine = places[shard_id::num_shards][:steps]
    return np.pad(mine, (0, steps - len(mine)), constant_values=NO_BATCH)
