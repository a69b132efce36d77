"""Several streams as one, and one stream for several readers."""

from __future__ import annotations

from math import isclose
from typing import TYPE_CHECKING, get_args

from raydata_ext.streaming.iterable_dataset import IterableDataset, known_seed
from raydata_ext.streaming.nodes.concat import Concat
from raydata_ext.streaming.nodes.every_nth import Remainder
from raydata_ext.streaming.nodes.interleave import Interleave, StoppingStrategy
from raydata_ext.streaming.nodes.node_part import NodePart, SplitStrategy
from raydata_ext.streaming.nodes.side_by_side import SideBySide

if TYPE_CHECKING:
    from collections.abc import Sequence


def concatenate_datasets(datasets: Sequence[IterableDataset], axis: int = 0) -> IterableDataset:
    """Streams one after the other, or side by side.

    Args:
        datasets: one at least.
        axis: 0 for all rows of the first, then those of the second; 1 for the columns of all in one row, where all must
            have equally many rows.

    Raises:
        ValueError: there are no streams, or another axis.
    """
    _require_some(datasets)
    if axis not in (0, 1):
        raise ValueError(f"axis is {axis}; it must be 0 or 1")
    parts = tuple(dataset.node for dataset in datasets)
    return IterableDataset(Concat(parts) if axis == 0 else SideBySide(parts))


def interleave_datasets(
    datasets: Sequence[IterableDataset],
    probabilities: Sequence[float] | None = None,
    seed: int | None = None,
    stopping_strategy: StoppingStrategy = "first_exhausted",
) -> IterableDataset:
    """Mix streams row by row.

    The order is that of Hugging Face `datasets`; but a stream that begins again, because another has not ended yet, is
    shuffled anew if it is shuffled.

    Args:
        datasets: one at least.
        probabilities: how likely each gives the next row; None is one after the other in turn.
        seed: of the choice; None is a random one.
        stopping_strategy: `"first_exhausted"`, `"all_exhausted"` or `"all_exhausted_without_replacement"`.

    Raises:
        ValueError: there are no streams; there are not as many probabilities as streams; they are negative or do not
            add up to 1; or there is no such strategy.
    """
    _require_some(datasets)
    if stopping_strategy not in get_args(StoppingStrategy):
        raise ValueError(f"stopping_strategy is {stopping_strategy!r}; choose one of {get_args(StoppingStrategy)}")
    if probabilities is not None:
        _require_probabilities(probabilities, len(datasets))
    node = Interleave(
        tuple(dataset.node for dataset in datasets),
        None if probabilities is None else tuple(map(float, probabilities)),
        known_seed(seed),
        stopping_strategy,
    )
    return IterableDataset(node)


def split_dataset_by_node(
    dataset: IterableDataset,
    rank: int,
    world_size: int,
    *,
    strategy: SplitStrategy = "auto",
    remainder: Remainder = "uneven",
) -> IterableDataset:
    """The part of a stream that one of several nodes reads; together they read each row once.

    Args:
        dataset: the stream; all nodes must pass the same one, with the same seeds.
        rank: number of the node.
        world_size: number of nodes.
        strategy: `"shards"` gives each node every `world_size`-th shard, `"rows"` every `world_size`-th row; rows of
            tables that go to others are not read. `"auto"` gives shards where they divide evenly, and rows elsewhere.
        remainder: where rows do not divide evenly, `"uneven"` gives the first nodes one more, `"drop"` leaves the
            last ones out and `"pad"` gives some twice, so that all nodes have equally many.

    Raises:
        ValueError: an argument is out of range, or there are fewer shards than nodes for `"shards"`.
    """
    if not 0 <= rank < world_size:
        raise ValueError(f"rank is {rank} of {world_size}; it must be from 0 to world_size - 1")
    if strategy not in get_args(SplitStrategy):
        raise ValueError(f"strategy is {strategy!r}; choose one of {get_args(SplitStrategy)}")
    if remainder not in get_args(Remainder):
        raise ValueError(f"remainder is {remainder!r}; choose one of {get_args(Remainder)}")
    if strategy == "shards" and dataset.num_shards < world_size:
        raise ValueError(
            f"{dataset.num_shards} shards cannot be dealt to {world_size} nodes; use strategy='rows', or"
            f" reshard({world_size})"
        )
    return dataset.over(NodePart(dataset.node, rank, world_size, strategy, remainder))


def _require_some(datasets: Sequence[IterableDataset]) -> None:
    if not datasets:
        raise ValueError("there are no streams; pass one at least")


def _require_probabilities(probabilities: Sequence[float], count: int) -> None:
    if len(probabilities) != count:
        raise ValueError(f"there are {len(probabilities)} probabilities for {count} streams")
    if any(probability < 0 for probability in probabilities) or not isclose(sum(probabilities), 1, abs_tol=1e-8):
        raise ValueError(f"probabilities are {list(probabilities)}; they must not be negative and must add up to 1")
