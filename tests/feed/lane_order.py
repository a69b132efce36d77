"""The reference global order of a feed over one source, one row at a time: slow on purpose, to be checked by eye."""

import copy
import functools
import itertools
import operator

import numpy as np


def global_order(shards, seed, epoch, buffer_size, num_lanes, max_buffer_input_shards=10):
    """Rows of a whole epoch in the order in which the run as a whole consumes them.

    Args:
        shards: list of shards, each a list of rows.
        num_lanes: lanes asked for; never more than there are rows.

    Returns:
        list of rows; every row of every shard exactly once.
    """
    total = sum(map(len, shards))
    lanes = min(num_lanes, total)
    if lanes <= 1:
        return shuffled(shards, seed, buffer_size, max_buffer_input_shards, epoch)
    order = np.random.default_rng([seed, epoch]).permutation(len(shards))
    permuted = [shards[i] for i in order]
    streams = []
    for lane, pieces in enumerate(_runs_of_rows(permuted, total, lanes)):
        groups = _contiguous(pieces, min(len(pieces), max_buffer_input_shards))
        rows = _round_robin([functools.reduce(operator.iadd, group, []) for group in groups])
        streams.append(_through_buffer(rows, buffer_size, np.random.default_rng([seed, epoch, lane])))
    return _round_robin(streams)


def rank_rows(order, step, global_batch_size, rank, world_size, num_lanes):
    """What one rank receives in one step, as (global position, row) pairs in ascending position.

    Where the lanes divide evenly over the ranks, a rank keeps to its own lanes, hence to its own shards; otherwise the
    step is cut into contiguous runs. Either way the ranks of a step together receive exactly its run of the order.
    """
    first = step * global_batch_size
    by_lane = num_lanes % world_size == 0 and global_batch_size % num_lanes == 0
    rows = []
    for offset, row in enumerate(order[first : first + global_batch_size]):
        owner = (
            offset % num_lanes * world_size // num_lanes if by_lane else _share(offset, global_batch_size, world_size)
        )
        if owner == rank:
            rows.append((first + offset, row))
    return rows


def shuffled(shards, seed, buffer_size, max_buffer_input_shards=10, epoch=0, worker=None):
    """Order of `IterableDataset.shuffle(seed, buffer_size, max_buffer_input_shards)`.

    Args:
        shards: list of shards, each a list of rows.
        epoch: what `set_epoch` was given.
        worker: None, or (worker id, number of workers): shards are dealt i, i + n, i + 2n, ...

    Returns:
        list of rows in the order in which they are delivered.
    """
    generator = np.random.default_rng(seed)
    shards = _permuted(shards, copy.deepcopy(generator))
    if epoch:
        shards = _permuted(shards, np.random.default_rng(epoch))
        generator = _shifted(generator, epoch)
    if worker is not None:
        index, count = worker
        shards = shards[index::count]
        generator = _shifted(generator, index)  # also for worker 0
    groups = min(len(shards), max_buffer_input_shards)
    streams = (
        [functools.reduce(operator.iadd, group, []) for group in _contiguous(shards, groups)]
        if groups > 1
        else [functools.reduce(operator.iadd, shards, [])]
    )
    return _through_buffer(_round_robin(streams), buffer_size, generator)


def _share(offset, size, world_size):
    """The rank whose run [rank * size // world_size, (rank + 1) * size // world_size) holds the offset."""
    return next(r for r in range(world_size) if offset < (r + 1) * size // world_size)


def _runs_of_rows(shards, total, lanes):
    """Cut the concatenated shards into `lanes` runs of nearly equal length; keep the pieces of shards apart."""
    size, extra = divmod(total, lanes)
    bounds = [size * i + min(i, extra) for i in range(lanes + 1)]
    starts = np.cumsum([0, *map(len, shards)])
    for low, high in itertools.pairwise(bounds):
        pieces = [
            s[max(low - a, 0) : high - a]
            for s, a in zip(shards, starts.tolist(), strict=False)
            if a < high and a + len(s) > low
        ]
        yield [piece for piece in pieces if piece]


def _permuted(shards, rng):
    if len(shards) < 2:
        return shards
    order = list(range(len(shards)))
    rng.shuffle(order)  # of a list: not the same draws as rng.permutation(n)
    return [shards[i] for i in order]


def _shifted(generator, value):
    return np.random.default_rng(int(copy.deepcopy(generator).integers(0, 1 << 63)) - value)


def _contiguous(items, count):
    size, extra = divmod(len(items), count)
    starts = [size * i + min(i, extra) for i in range(count + 1)]
    return [items[a:b] for a, b in itertools.pairwise(starts)]


def _round_robin(streams):
    longest = max(map(len, streams), default=0)
    return [stream[i] for i in range(longest) for stream in streams if i < len(stream)]


def _through_buffer(rows, size, rng):
    buffer, out, draws = [], [], iter(())
    for row in rows:
        if len(buffer) < size:
            buffer.append(row)
            continue
        slot = next(draws, None)
        if slot is None:
            draws = iter(rng.integers(0, size, size=1000).tolist())
            slot = next(draws)
        out.append(buffer[slot])
        buffer[slot] = row
    rng.shuffle(buffer)
    return out + buffer
