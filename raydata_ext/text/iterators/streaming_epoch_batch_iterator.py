"""`StreamingEpochBatchIterator`: epochs of rows that come in a sequence and cannot be asked for by number."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from raydata_ext.text.contract import children
from raydata_ext.text.iterators.buffered_iterator import BufferedIterator
from raydata_ext.text.iterators.counting_iterator import CountingIterator, remaining
from raydata_ext.text.iterators.grouped_iterator import GroupedIterator
from raydata_ext.text.iterators.sharded_iterator import ShardedIterator, require_shard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


class StreamingEpochBatchIterator:
    """Gives an iterator over a dataset for each epoch; elements are dealt to shards in turn.

    The state holds how many elements all shards together have taken. To resume, the dataset is read up to there.

    Args:
        dataset: is iterated over once an epoch, after `set_epoch`; it need not have a length.
        max_sentences: elements of a batch.
        collate_fn: merges a list of elements to a batch; None gives the elements one by one, as they are.
        epoch: the epoch to begin with, from 1.
        buffer_size: how many elements or batches a thread reads ahead; 0 is none.
        num_shards: how many shards there are.
        shard_id: which of them this is. All have equally many elements; None stands in where there is none.

    Raises:
        ValueError: there is no such shard, or `max_sentences` is not positive.

    Source: `StreamingEpochBatchIterator` of fairseq.
    """

    def __init__(
        self,
        dataset: Iterable[Any],
        max_sentences: int = 1,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        epoch: int = 1,
        buffer_size: int = 0,
        *,
        num_shards: int = 1,
        shard_id: int = 0,
    ) -> None:
        require_shard(num_shards, shard_id)
        if max_sentences < 1:
            raise ValueError(f"max_sentences is {max_sentences}; it must be at least 1")
        self.dataset = dataset
        self.max_sentences = max_sentences if collate_fn is not None else 1
        self.collate_fn = collate_fn
        self.epoch = max(epoch, 1)
        self.buffer_size = buffer_size
        self.num_shards = num_shards
        self.shard_id = shard_id
        self._itr: CountingIterator[Any] | None = None
        self._start = 0  # elements that were taken before the iterator, or are to be passed over by the next
        self._first_step = 0

    @property
    def next_epoch_idx(self) -> int:
        """The epoch that the next iterator will be for: the same one, if it is not at its end."""
        return self.epoch + 1 if self.end_of_epoch() else self.epoch

    def next_epoch_itr(
        self,
        shuffle: bool = True,  # noqa: ARG002
        fix_batches_to_gpus: bool = False,  # noqa: ARG002
        set_dataset_epoch: bool = True,
    ) -> CountingIterator[Any]:
        """Make the iterator of the next epoch; after `load_state_dict`, of the rest of the epoch that it was in.

        Args:
            shuffle: without effect; the dataset orders its rows.
            fix_batches_to_gpus: without effect.
            set_dataset_epoch: whether to tell the dataset the epoch.
        """
        if self._itr is not None:
            self._close()
            self.epoch = self.next_epoch_idx
            self._start = 0
        if set_dataset_epoch:
            children.set_epoch(self.dataset, self.epoch)
        self._itr = self._iterator()
        return self._itr

    def end_of_epoch(self) -> bool:
        """Whether the last iterator has given all."""
        return self._itr is not None and not self._itr.has_next()

    @property
    def iterations_in_epoch(self) -> int:
        """Steps of the epoch that are done."""
        return self._start // self._step if self._itr is None else self._itr.n

    def state_dict(self) -> dict[str, Any]:
        """Where the training is; the same in all shards."""
        if self.end_of_epoch():
            return {"epoch": self.epoch + 1, "position": 0}
        done = 0 if self._itr is None else (self._itr.n - self._first_step) * self._step
        return {"epoch": self.epoch, "position": self._start + done}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a state, also one of fairseq's, which holds the epoch alone."""
        self._close()
        self._itr = None
        self.epoch = max(int(state_dict["epoch"]), 1)
        self._start = int(state_dict.get("position", 0))

    @property
    def _step(self) -> int:
        """Elements that all shards together take in a step."""
        return self.num_shards * self.max_sentences

    def _iterator(self) -> CountingIterator[Any]:
        length = remaining(self.dataset)
        total = None if length is None else max(0, length - self._start)
        rest = CountingIterator(itertools.islice(iter(self.dataset), self._start, None), 0, total)
        mine = ShardedIterator(rest, self.num_shards, self.shard_id, fill_value=_MISSING)
        groups = GroupedIterator(mine, self.max_sentences)
        left = remaining(groups)
        steps: Iterable[Any] = map(self._batch, groups)
        if self.buffer_size > 0:
            steps = BufferedIterator(self.buffer_size, steps)
        self._first_step = self._start // self._step
        return CountingIterator(steps, self._first_step, None if left is None else self._first_step + left)

    def _batch(self, group: list[Any]) -> Any:
        elements = [element for element in group if element is not _MISSING]
        if self.collate_fn is not None:
            return self.collate_fn(elements)
        return elements[0] if elements else None

    def _close(self) -> None:
        if self._itr is not None and isinstance(self._itr.iterable, BufferedIterator):
            self._itr.iterable.close()


_MISSING = object()
"""Stands in where a shard has no element."""
