"""Streams that nobody thought of: random chains of steps over random sources go on wherever they are left."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.streaming import (
    IterableDataset,
    concatenate_datasets,
    interleave_datasets,
    split_dataset_by_node,
)
from raydata_ext.table import InMemoryTable

STRATEGIES = ("first_exhausted", "all_exhausted", "all_exhausted_without_replacement")
STEPS = (
    lambda s, n, size: s.shuffle(n, buffer_size=size, max_buffer_input_shards=n % 4 + 1),
    lambda s, n, size: s.skip(n),
    lambda s, n, size: s.take(40 * n),
    lambda s, n, size: s.map(lambda row: {"x": row["x"] + 1}),
    lambda s, n, size: s.map(lambda row, i: {"x": row["x"] + i}, with_indices=True),
    lambda s, n, size: s.map(lambda b: {"x": [x for x in b["x"] for _ in range(x % 3)]}, batched=True, batch_size=n),
    lambda s, n, size: s.filter(lambda row: row["x"] % 4 != 1),
    lambda s, n, size: s.filter(lambda b: [x % 3 > 0 for x in b["x"]], batched=True, batch_size=n),
    lambda s, n, size: s.batch(n).unbatch(),
    lambda s, n, size: s.repeat(2),
    lambda s, n, size: s.shard(3, n % 3),
    lambda s, n, size: split_dataset_by_node(s, n % 2, 2, strategy="rows"),
    lambda s, n, size: split_dataset_by_node(s, n % 3, 3),
    lambda s, n, size: s.reshard(n),
)


def count_up(shards):
    for low, high in shards:
        yield from ({"x": number} for number in range(low, high))


def random_stream(generator, depth=1):
    """A function that makes one stream anew each time."""
    sizes = generator.integers(0, generator.choice([3, 30, 1200]), size=generator.integers(1, 7)).tolist()
    bounds = list(itertools.pairwise(itertools.accumulate(sizes, initial=0)))
    in_tables = generator.random() < 0.5
    others = [random_stream(generator, depth - 1) for _ in range(generator.integers(0, 3))] if depth else []
    strategy = STRATEGIES[generator.integers(3)]
    probabilities = generator.dirichlet([5] * (len(others) + 1)).tolist() if generator.random() < 0.5 else None
    are_mixed = generator.random() < 0.6
    chain = [
        (STEPS[generator.integers(len(STEPS))], int(generator.integers(1, 40)), int(generator.choice([1, 3, 50, 900])))
        for _ in range(generator.integers(1, 4))
    ]

    def make():
        if in_tables:
            stream = IterableDataset.from_tables(
                [InMemoryTable(pa.table({"x": pa.array(range(low, high), pa.int64())})) for low, high in bounds]
            )
        else:
            stream = IterableDataset.from_generator(count_up, {"shards": bounds})
        if others:
            streams = [stream, *(other() for other in others)]
            stream = (
                interleave_datasets(streams, probabilities, 5, strategy) if are_mixed else concatenate_datasets(streams)
            )
        for step, number, size in chain:
            stream = step(stream, number, size)
        return stream

    return make


def check(seed):
    generator = np.random.default_rng(seed)
    make, epoch = random_stream(generator), int(generator.choice([0, 0, 1, 3]))
    stream = make()
    stream.set_epoch(epoch)
    whole = list(stream)
    for place in generator.integers(0, len(whole) + 1, 3).tolist():
        stream = make()
        stream.set_epoch(epoch)
        head = list(itertools.islice(rows := iter(stream), place))
        later = make()
        later.load_state_dict(json.loads(json.dumps(stream.state_dict())))
        more = int(generator.integers(0, len(whole) - place + 1))
        second = list(itertools.islice(iter(later), more))
        last = make()
        last.load_state_dict(json.loads(json.dumps(later.state_dict())))
        assert head + second + list(last) == whole, (seed, place, more)
        del rows


@pytest.mark.parametrize("part", range(4))
def test_random_chains_go_on_anywhere(part):
    for number in range(10):
        check([part, number])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4, 40))
def test_many_random_chains_go_on_anywhere(part):
    for number in range(50):
        check([part, number])
