"""`EpochBatchIterator`: batches, epoch after epoch, dealt to shards, and resumable by any number of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from raydata_ext.errors import StateError
from raydata_ext.text.contract import children
from raydata_ext.text.iterators.batch_loading import BatchLoader
from raydata_ext.text.iterators.buffered_iterator import BufferedIterator
from raydata_ext.text.iterators.counting_iterator import CountingIterator
from raydata_ext.text.iterators.epoch_order import NO_BATCH, EpochOrder, share
from raydata_ext.text.iterators.sharded_iterator import require_shard

if TYPE_CHECKING:
    from numpy.typing import NDArray

BatchList = Sequence[Sequence[int]]

STATE_VERSION = 3


@dataclass(frozen=True)
class _Run:
    """An epoch from some position on.

    Attributes:
        order: of the epoch.
        position: places of the order that are done.
    """

    order: EpochOrder
    position: int = 0


class EpochBatchIterator:
    """Gives an iterator over batches for each epoch.

    Batches are shuffled by `RandomState(seed + epoch)` and dealt to shards in turn. The state holds how many all
    shards together have done, so that any number of shards goes on with exactly the others.

    Args:
        dataset: rows by number; is told each epoch by `set_epoch`, in workers too.
        collate_fn: merges a list of items to a batch; an empty list where a shard has no batch in the last step.
        batch_sampler: row numbers of each batch, such as `Batches`; or a function of (dataset, epoch) that gives them
            anew each epoch.
        seed: of the order.
        num_shards: how many shards there are.
        shard_id: which of them this is.
        num_workers: processes that make batches, where torch is installed; 0 is none but this one.
        epoch: the epoch to begin with, from 1.
        buffer_size: how many batches a thread makes ahead; 0 is none.
        timeout: seconds to wait for a worker; 0 is for ever.
        disable_shuffling: never shuffle.
        skip_remainder_batch: leave out the last step where not every shard has a batch.
        grouped_shuffling: shuffle runs of `num_shards` batches as a whole, so that batches of equal length stay in one
            step.
        reuse_dataloader: keep the loader from epoch to epoch.
        persistent_workers: keep the workers from epoch to epoch.

    Attributes:
        epoch: the epoch that the last iterator was made for.
        shuffle: whether its batches were shuffled.

    Raises:
        ValueError: there is no such shard.

    Source: `EpochBatchIterator` of fairseq.
    """

    def __init__(  # noqa: PLR0917 - fairseq's order
        self,
        dataset: Any,
        collate_fn: Callable[[list[Any]], Any],
        batch_sampler: BatchList | Iterable[Sequence[int]] | Callable[[Any, int], Iterable[Sequence[int]]],
        seed: int = 1,
        num_shards: int = 1,
        shard_id: int = 0,
        num_workers: int = 0,
        epoch: int = 1,
        buffer_size: int = 0,
        timeout: float = 0,
        disable_shuffling: bool = False,
        skip_remainder_batch: bool = False,
        grouped_shuffling: bool = False,
        reuse_dataloader: bool = False,
        persistent_workers: bool = False,
    ) -> None:
        require_shard(num_shards, shard_id)
        self.dataset = dataset
        self.collate_fn = collate_fn
        self.batch_sampler = batch_sampler
        self.seed = seed
        self.num_shards = num_shards
        self.shard_id = shard_id
        self.epoch = max(epoch, 1)
        self.buffer_size = buffer_size
        self.disable_shuffling = disable_shuffling
        self.skip_remainder_batch = skip_remainder_batch
        self.grouped_shuffling = grouped_shuffling
        self.shuffle = not disable_shuffling
        self._batches: BatchList | None = None if callable(batch_sampler) else _sequence(batch_sampler)
        self._loader = BatchLoader(
            dataset,
            collate_fn,
            num_workers=num_workers,
            timeout=timeout,
            reuse=reuse_dataloader,
            persistent_workers=persistent_workers,
        )
        self._run: _Run | None = None  # what the iterator was made for, or what is to be resumed
        self._itr: CountingIterator[Any] | None = None
        self._first_step = 0

    @property
    def frozen_batches(self) -> BatchList:
        """The row numbers of all batches of the epoch."""
        if self._batches is None:
            assert callable(self.batch_sampler)
            self._batches = _sequence(self.batch_sampler(self.dataset, self.epoch))
        return self._batches

    @property
    def first_batch(self) -> Any:
        """The first batch of the epoch before shuffling, for a try.

        Raises:
            IndexError: there are no batches.
        """
        if not len(self.frozen_batches):
            raise IndexError("the dataset is empty, there is no first batch; check it and the limits on sizes")
        rows = [int(row) for row in self.frozen_batches[0]]
        return self.collate_fn(children.items_of(self.dataset, rows))

    def __len__(self) -> int:
        """Steps of an epoch: batches of this shard, empty ones included."""
        return len(share(np.arange(len(self.frozen_batches)), self.num_shards, 0, drop_last=self.skip_remainder_batch))

    @property
    def next_epoch_idx(self) -> int:
        """The epoch that the next iterator will be for: the same one, if it is not at its end."""
        return self.epoch + 1 if self.end_of_epoch() else self.epoch

    def next_epoch_itr(
        self, shuffle: bool = True, fix_batches_to_gpus: bool = False, set_dataset_epoch: bool = True
    ) -> CountingIterator[Any]:
        """Make the iterator of the next epoch; after `load_state_dict`, of the rest of the epoch that it was in.

        Args:
            shuffle: whether to shuffle the batches.
            fix_batches_to_gpus: keep each batch with one shard in all epochs, for datasets that prefetch.
            set_dataset_epoch: whether to tell the dataset the epoch.
        """
        if self._run is None or self._itr is not None:  # not one that waits to be resumed
            epoch = self.next_epoch_idx
            if callable(self.batch_sampler) and epoch != self.epoch:
                self._batches = None
            self.epoch = epoch
            self._run = _Run(self._order(shuffle=shuffle, fix=fix_batches_to_gpus))
        self.shuffle = self._run.order.shuffle
        self._close()
        if set_dataset_epoch:
            children.set_epoch(self.dataset, self.epoch)
        self._itr = self._iterator(self._run)
        return self._itr

    def end_of_epoch(self) -> bool:
        """Whether the last iterator has given all."""
        return self._itr is not None and not self._itr.has_next()

    @property
    def iterations_in_epoch(self) -> int:
        """Steps of the epoch that are done."""
        if self._itr is not None:
            return self._itr.n
        return self._run.position // self.num_shards if self._run is not None else 0

    def state_dict(self) -> dict[str, Any]:
        """Where the training is; the same in all shards. Plain numbers and flags."""
        ended = self.end_of_epoch()
        position = 0 if ended or self._run is None else self._position(self._run)
        return {
            "version": STATE_VERSION,
            "epoch": self.epoch + 1 if ended else self.epoch,
            "iterations_in_epoch": self.iterations_in_epoch if position else 0,
            "shuffle": self.shuffle,
            "position": position,
            "order": self._order_state(self._run.order) if position and self._run is not None else None,
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a state, also one of fairseq's.

        States of fairseq count the steps of each shard, so they are right for the same number of shards only.

        Args:
            state_dict: of `state_dict`, with any number of shards, or of fairseq.

        Raises:
            StateError: it belongs to other batches or another seed, or has no place in the epoch.
        """
        version = state_dict.get("version", 1)
        if version not in {1, 2, STATE_VERSION}:
            raise StateError(f"version {version} of the state is not known; a newer release wrote it")
        self._close()
        self._itr = self._run = None
        epoch = max(int(state_dict["epoch"]), 1)
        if callable(self.batch_sampler) and epoch != self.epoch:
            self._batches = None
        self.epoch = epoch
        self.shuffle = bool(state_dict.get("shuffle", True))
        position = int(state_dict.get("position", self.num_shards * state_dict.get("iterations_in_epoch", 0)))
        if position == 0:
            return
        if callable(self.batch_sampler):
            children.set_epoch(self.dataset, epoch)  # batches are made for the epoch
        order = replace(self._order(shuffle=self.shuffle, fix=False), shuffle=self.shuffle)  # as the epoch began
        if version == STATE_VERSION:
            saved = state_dict["order"]
            order = replace(order, fixed_shards=saved["fixed_shards"], group=saved["group"])
            _require_same(saved, self._order_state(order))
        places = len(order.places(len(self.frozen_batches)))
        if position < places:
            self._run = _Run(order, position)
        elif version == 1:
            self.epoch += 1  # the first version says that an epoch is done by its last position
        else:
            raise StateError(
                f"the state is at batch {position} of an epoch that has {places}; it belongs to other batches, or to"
                f" another number of shards than {self.num_shards}"
            )

    def _order_state(self, order: EpochOrder) -> dict[str, int]:
        return {
            "seed": order.seed,
            "num_batches": len(self.frozen_batches),
            "fixed_shards": order.fixed_shards,
            "group": order.group,
        }

    def _order(self, *, shuffle: bool, fix: bool) -> EpochOrder:
        return EpochOrder(
            self.seed,
            self.epoch,
            shuffle and not self.disable_shuffling,
            self.num_shards if fix and children.supports_prefetch(self.dataset) else 0,
            self.num_shards if self.grouped_shuffling else 1,
        )

    def _iterator(self, run: _Run) -> CountingIterator[Any]:
        batches = self.frozen_batches
        left = run.order.places(len(batches))[run.position :]
        mine = _Chosen(batches, share(left, self.num_shards, self.shard_id, drop_last=self.skip_remainder_batch))
        if children.supports_prefetch(self.dataset):
            self.dataset.prefetch([row for rows in mine for row in rows])
        loaded = self._loader.load(run.order.epoch, mine)
        self._first_step = run.position // self.num_shards
        buffered = BufferedIterator(self.buffer_size, loaded) if self.buffer_size > 0 else loaded
        return CountingIterator(buffered, self._first_step, self._first_step + len(mine))

    def _position(self, run: _Run) -> int:
        """Places of the epoch's order that all shards together have done."""
        return (
            run.position + (self._itr.n - self._first_step) * self.num_shards if self._itr is not None else run.position
        )

    def _close(self) -> None:
        if self._itr is not None and isinstance(self._itr.iterable, BufferedIterator):
            self._itr.iterable.close()


class _Chosen(Sequence[Sequence[int]]):
    """Some batches, in some order; they are looked up when they are asked for."""

    def __init__(self, batches: BatchList, numbers: NDArray[np.int64]) -> None:
        self._batches = batches
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        number = int(self._numbers[index])
        return [] if number == NO_BATCH else self._batches[number]


def _require_same(saved: Mapping[str, int], here: Mapping[str, int]) -> None:
    for name, value in here.items():
        if saved[name] != value:
            raise StateError(
                f"the state was saved within an epoch with {name}={saved[name]}, here it is {value}; it can only be"
                " resumed with the same dataset, limits on batches, and seed"
            )


def _sequence(batches: Any) -> BatchList:
    return batches if isinstance(batches, Sequence) else tuple(batches)
