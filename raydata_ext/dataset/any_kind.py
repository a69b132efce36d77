"""What is said of data sets and of streams in the same words: concatenating, interleaving, dealing to nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from raydata_ext import streaming
from raydata_ext.dataset import combine
from raydata_ext.dataset.dataset import Dataset
from raydata_ext.streaming import IterableDataset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raydata_ext.dataset.mixing import StoppingStrategy
    from raydata_ext.streaming.nodes.every_nth import Remainder
    from raydata_ext.streaming.nodes.node_part import SplitStrategy

AnyDataset = TypeVar("AnyDataset", Dataset, IterableDataset)


def concatenate_datasets(datasets: Sequence[AnyDataset], axis: int = 0) -> AnyDataset:
    """Data sets, or streams, one after the other (axis 0) or side by side (axis 1).

    Args:
        datasets: one at least, all of one kind.
        axis: 0 for all rows of the first, then those of the second; 1 for the columns of all in one row.

    Raises:
        TypeError: some are data sets and others are streams.
        SchemaError: (axis 0) the types of a column do not go together.
        ValueError: (axis 1) numbers of rows differ, or a name stands twice. Or there are none, or another axis.
    """
    concatenate: Any = streaming.concatenate_datasets if _are_streams(datasets) else combine.concatenate_datasets
    joined: AnyDataset = concatenate(datasets, axis)
    return joined


def interleave_datasets(
    datasets: Sequence[AnyDataset],
    probabilities: Sequence[float] | None = None,
    seed: int | None = None,
    stopping_strategy: StoppingStrategy = "first_exhausted",
) -> AnyDataset:
    """Rows of one data set, or stream, after another, in turn or by chance, in the order of Hugging Face `datasets`.

    Args:
        datasets: one at least, all of one kind.
        probabilities: how likely each gives the next row; None is one after the other in turn.
        seed: of the choice; None is a random one.
        stopping_strategy: `"first_exhausted"` ends when one has no more rows; `"all_exhausted"` when each has given all
            of its rows, those of shorter ones again from the first on; `"all_exhausted_without_replacement"` gives each
            row once.

    Raises:
        TypeError: some are data sets and others are streams.
        ValueError: there are none, or the probabilities do not fit.
    """
    interleave: Any = streaming.interleave_datasets if _are_streams(datasets) else combine.interleave_datasets
    mixed: AnyDataset = interleave(datasets, probabilities, seed, stopping_strategy)
    return mixed


def split_dataset_by_node(
    dataset: AnyDataset,
    rank: int,
    world_size: int,
    *,
    strategy: SplitStrategy = "auto",
    remainder: Remainder = "uneven",
) -> AnyDataset:
    """The part of a data set or stream that one of several nodes reads; together they read each row once.

    Args:
        dataset: the same on all nodes. A `Dataset` is cut into runs of rows.
        rank: number of the node.
        world_size: number of nodes.
        strategy: of a stream, see `streaming.split_dataset_by_node`.
        remainder: of a stream, likewise.

    Raises:
        ValueError: an argument is out of range.
    """
    if isinstance(dataset, IterableDataset):
        return streaming.split_dataset_by_node(dataset, rank, world_size, strategy=strategy, remainder=remainder)
    if not 0 <= rank < world_size:
        raise ValueError(f"rank is {rank} of {world_size}; it must be from 0 to world_size - 1")
    return dataset.shard(num_shards=world_size, index=rank, contiguous=True)


def _are_streams(datasets: Sequence[Dataset] | Sequence[IterableDataset]) -> bool:
    kinds = {type(dataset) for dataset in datasets}
    for kind in kinds:
        if not issubclass(kind, Dataset | IterableDataset):
            raise TypeError(f"a data set or a stream is expected, got {kind.__name__}")
    if len(kinds) > 1:
        raise TypeError("data sets and streams do not mix; make streams of all with to_iterable_dataset()")
    return kinds == {IterableDataset}
