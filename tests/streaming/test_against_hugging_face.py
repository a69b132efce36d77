"""The same calls on streams of Hugging Face `datasets` give the same rows, where its rows are right."""

from __future__ import annotations

import datasets as hugging_face
import pytest
from datasets.distributed import split_dataset_by_node as split_theirs

from raydata_ext.streaming import (
    IterableDataset,
    concatenate_datasets,
    interleave_datasets,
    split_dataset_by_node,
)

SHARDS = [(0, 5), (5, 9), (9, 20)]


def count_up(shards):
    for low, high in shards:
        yield from ({"x": number, "text": f"row {number}"} for number in range(low, high))


def ours():
    return IterableDataset.from_generator(count_up, {"shards": SHARDS})


def theirs():
    return hugging_face.IterableDataset.from_generator(count_up, gen_kwargs={"shards": SHARDS})


def sums(batch):
    return {"x": batch["x"], "sum": [sum(batch["x"])] * len(batch["x"])}


CALLS = {
    "map": lambda s: s.map(lambda row: {"y": row["x"] + 1}),
    "map with indices": lambda s: s.map(lambda row, i: {"i": i}, with_indices=True),
    "map by batches": lambda s: s.map(sums, batched=True, batch_size=3),
    "map of full batches": lambda s: s.map(sums, batched=True, batch_size=3, drop_last_batch=True),
    "map to more rows": lambda s: s.map(
        lambda batch: {"y": [x for x in batch["x"] for _ in range(2)]},
        batched=True,
        batch_size=4,
        remove_columns=["x", "text"],
    ),
    "map of columns": lambda s: s.map(lambda x: {"y": x}, input_columns="x"),
    "filter": lambda s: s.filter(lambda row: row["x"] % 3 == 0),
    "filter with indices": lambda s: s.filter(lambda row, i: i % 2 == 0, with_indices=True),
    "batch": lambda s: s.batch(3),
    "batch of full batches": lambda s: s.batch(3, drop_last_batch=True),
    "skip and take": lambda s: s.skip(4).take(7),
    "repeat": lambda s: s.repeat(2),
    "columns": lambda s: s.rename_column("x", "y").select_columns(["y", "text"]).remove_columns("text"),
    "iter": lambda s: s.iter(3),
    "shard": lambda s: s.shard(2, 1),
    "shard by turns": lambda s: s.shard(2, 1, contiguous=False),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_the_same_rows(name):
    assert list(CALLS[name](ours())) == list(CALLS[name](theirs()))


@pytest.mark.parametrize("world_size", [2, 3, 4])
def test_nodes_get_the_same_rows(world_size):
    for rank in range(world_size):
        assert list(split_dataset_by_node(ours(), rank, world_size)) == list(split_theirs(theirs(), rank, world_size))


@pytest.mark.parametrize("strategy", ["first_exhausted", "all_exhausted", "all_exhausted_without_replacement"])
@pytest.mark.parametrize("probabilities", [None, [0.3, 0.7]])
def test_mixtures_have_the_same_order(strategy, probabilities):
    mixed = interleave_datasets([ours(), ours().take(7)], probabilities, 3, strategy)
    expected = hugging_face.interleave_datasets(
        [theirs(), theirs().take(7)], probabilities, seed=3, stopping_strategy=strategy
    )
    assert list(mixed) == list(expected)


def test_columns_side_by_side_make_the_same_rows():
    def join(concatenate, make):
        return list(concatenate([make().select_columns("x"), make().select_columns("text")], axis=1))

    assert join(concatenate_datasets, ours) == join(hugging_face.concatenate_datasets, theirs)


def test_concatenated_streams_have_the_same_rows():
    own = concatenate_datasets([ours(), ours().take(3)])
    assert list(own) == list(hugging_face.concatenate_datasets([theirs(), theirs().take(3)]))
