"""Batches, epoch after epoch.

`counting_iterator` counts what was taken and is the base of those that regroup: `sharded_iterator`, `grouped_iterator`;
`buffered_iterator` reads ahead. `epoch_order` is the order of an epoch's batches as a pure function, `batch_loading`
turns row numbers into batches here or in workers, and `epoch_batch_iterator` puts both together, with a state that can
be resumed by any number of shards. `streaming_epoch_batch_iterator` is the same for rows that come in a sequence.
"""

from __future__ import annotations

from raydata_ext.text.iterators.buffered_iterator import BufferedIterator
from raydata_ext.text.iterators.counting_iterator import CountingIterator
from raydata_ext.text.iterators.epoch_batch_iterator import EpochBatchIterator
from raydata_ext.text.iterators.grouped_iterator import GroupedIterator
from raydata_ext.text.iterators.sharded_iterator import ShardedIterator
from raydata_ext.text.iterators.streaming_epoch_batch_iterator import StreamingEpochBatchIterator

__all__ = [
    "BufferedIterator",
    "CountingIterator",
    "EpochBatchIterator",
    "GroupedIterator",
    "ShardedIterator",
    "StreamingEpochBatchIterator",
]
