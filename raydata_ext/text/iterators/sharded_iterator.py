"""`ShardedIterator`: every n-th element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raydata_ext.text.iterators.counting_iterator import CountingIterator, count_of_groups, groups_of, remaining

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class ShardedIterator(CountingIterator[Any]):
    """Elements `shard_id`, `shard_id + num_shards`, ... of an iterable; equally many for each shard.

    Args:
        iterable: the elements.
        num_shards: how many shards there are.
        shard_id: which of them this is.
        fill_value: is given where elements run out before the last shard has one.
        skip_remainder_batch: end before that, in place of filling.

    Raises:
        ValueError: there is no such shard.
    """

    def __init__(
        self,
        iterable: Iterable[Any],
        num_shards: int,
        shard_id: int,
        fill_value: Any = None,
        skip_remainder_batch: bool = False,
    ) -> None:
        require_shard(num_shards, shard_id)
        start = -(-getattr(iterable, "n", 0) // num_shards)
        left = remaining(iterable)
        total = None if left is None else start + count_of_groups(left, num_shards, drop_last=skip_remainder_batch)
        groups = groups_of(iterable, num_shards, drop_last=skip_remainder_batch)
        super().__init__(_members(groups, shard_id, fill_value), start, total)


def require_shard(num_shards: int, shard_id: int) -> None:
    """Refuse a shard that there is not.

    Raises:
        ValueError: there is no such shard.
    """
    if not 0 <= shard_id < num_shards:
        raise ValueError(f"shard_id must be between 0 and num_shards: it is {shard_id}, and num_shards {num_shards}")


def _members(groups: Iterable[list[Any]], place: int, fill_value: Any) -> Iterator[Any]:
    for group in groups:
        yield group[place] if place < len(group) else fill_value
