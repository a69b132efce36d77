"""Which results of a plan exist, and which are missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from raydata_ext.plan.chain import Chain, Position
from raydata_ext.plan.input_shard import InputShard
from raydata_ext.plan.plan import Plan
from raydata_ext.sources import IdentityIndex
from raydata_ext.store import Receipt, Store


@dataclass(frozen=True, eq=False)
class ShardState:
    """What is known of one shard of a plan before anything runs.

    Attributes:
        shard: the input.
        position: where it stands.
        keys: the key of each kept result; None where the content of the input is not known without reading it.
        result: the receipt of the last result, if it exists.
        prefix: (number of steps done, receipt) of the latest kept result before the last, if one exists and the last does
            not.
    """

    shard: InputShard
    position: Position
    keys: tuple[str, ...] | None
    result: Receipt | None = None
    prefix: tuple[int, Receipt] | None = None


@dataclass(frozen=True, eq=False)
class Resolution:
    """A plan held against a store."""

    chain: Chain
    states: tuple[ShardState, ...]

    @property
    def missing(self) -> list[ShardState]:
        """Shards whose last result is not there, or not known to be."""
        return [state for state in self.states if state.result is None]

    @property
    def missing_bytes(self) -> int:
        """Bytes of input of the missing shards."""
        return sum(state.shard.num_bytes for state in self.missing)


def resolve(plan: Plan, store: Store, index: IdentityIndex) -> Resolution:
    """Ask the store for the results of a plan; reads listings and receipts, no data."""
    chain = Chain.of(plan.steps)
    keys = [_known_keys(chain, shard, position, index) for shard, position in zip(plan.shards, plan.positions, strict=True)]
    found = store.find(key for known in keys if known for key in known)
    states = (
        _state(chain, shard, position, known, found)
        for shard, position, known in zip(plan.shards, plan.positions, keys, strict=True)
    )
    return Resolution(chain, tuple(states))


def latest_prefix(chain: Chain, keys: tuple[str, ...], found: dict[str, Receipt]) -> tuple[int, Receipt] | None:
    """The kept result before the last that saves most work, as (number of steps done, receipt)."""
    return next(_prefixes(chain, keys, found), None)


def _prefixes(chain: Chain, keys: tuple[str, ...], found: dict[str, Receipt]) -> Iterator[tuple[int, Receipt]]:
    for count, key in reversed(list(zip(chain.kept, keys, strict=True))[:-1]):
        if key in found:
            yield count, found[key]


def _known_keys(chain: Chain, shard: InputShard, position: Position, index: IdentityIndex) -> tuple[str, ...] | None:
    identity = shard.identity(index.content)
    return None if identity is None else chain.keys(shard, identity, position)


def _state(
    chain: Chain, shard: InputShard, position: Position, keys: tuple[str, ...] | None, found: dict[str, Receipt]
) -> ShardState:
    if keys is None:
        return ShardState(shard, position, None)
    result = found.get(keys[-1])
    return ShardState(shard, position, keys, result, None if result else latest_prefix(chain, keys, found))
