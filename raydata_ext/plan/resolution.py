"""Which results of a plan exist, and which are missing.

A result from which rows were set aside is one only for a run that sets bad rows aside too, and only together with the
records of these rows; for any other run it is missing, so that the error is raised again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from raydata_ext.fingerprint import combine
from raydata_ext.plan.chain import Chain, Position
from raydata_ext.plan.file_parts import find_parts
from raydata_ext.plan.history import Origin
from raydata_ext.sources import CompressedFile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from raydata_ext.plan.file_parts import FilePart
    from raydata_ext.plan.input_shard import InputShard
    from raydata_ext.plan.plan import Plan
    from raydata_ext.plan.workspace import Workspace
    from raydata_ext.store import Receipt, Store


@dataclass(frozen=True, eq=False)
class ShardState:
    """What is known of one shard of a plan.

    Attributes:
        shard: the input.
        position: where it stands.
        identity: of its content; None where that is not known without reading it.
        keys: the key of each kept result; None where the identity is.
        result: the receipt of the last result, if it exists.
        prefix: (number of steps done, receipt) of the latest kept result before the last, if one exists and the last
            does not.
        whole: of a part of a big compressed file, that file.
    """

    shard: InputShard
    position: Position
    identity: str | None = None
    keys: tuple[str, ...] | None = None
    result: Receipt | None = None
    prefix: tuple[int, Receipt] | None = None
    whole: CompressedFile | None = None

    @property
    def is_cut(self) -> bool:
        """Whether the shard can be computed; a big compressed file is first cut into parts, which then can."""
        return not isinstance(self.shard, CompressedFile)

    @property
    def place(self) -> str:
        """Where the shard begins: it stays when files join or leave a group further on."""
        return self.shard.pieces[0].label if self.shard.pieces else self.shard.label

    def identified(self, chain: Chain, identity: str) -> ShardState:
        """The state once the content is known; what the store holds is still open."""
        keys = chain.keys(self.shard, identity, self.position)
        return replace(self, identity=identity, keys=keys, result=None, prefix=None)

    def of_part(self, chain: Chain, part: FilePart) -> ShardState:
        """The state of a part, where this is the one of a big compressed file."""
        assert isinstance(self.shard, CompressedFile)
        shard = self.shard.part(part.start, part.end, part.num_bytes)
        identity = shard.identity(lambda _: part.content)
        assert identity is not None
        return ShardState(shard, self.position, whole=self.shard).identified(chain, identity)

    def found(self, chain: Chain, receipts: dict[str, Receipt]) -> ShardState:
        """The state with those of its results that are among some receipts."""
        if self.keys is None:
            return self
        result = receipts.get(self.keys[-1])
        prefix = None if result else _prefix(chain, self.keys, receipts)
        return replace(self, result=result, prefix=prefix)

    def reached(self, stop: int | None) -> Receipt | None:
        """The latest of its results after so many steps (None is all of them) or more, if there is one."""
        if self.result is None and stop is not None and self.prefix is not None and self.prefix[0] >= stop:
            return self.prefix[1]
        return self.result

    def looked_up(self, chain: Chain, store: Store, *, quarantine: bool = False) -> ShardState:
        """The state with what the store holds now; see `find_results`."""
        return self if self.keys is None else self.found(chain, find_results(store, self.keys, quarantine=quarantine))


@dataclass(frozen=True, eq=False)
class Resolution:
    """A plan held against a workspace."""

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

    def origin(self, state: ShardState, key: str, identity: str) -> Origin:
        """What a result of this plan is made of."""
        steps = zip(self.chain.steps, self.chain.fingerprints, strict=True)
        named = tuple((step.label, mark.digest) for step, mark in steps)
        return Origin(key, identity, state.shard.digest, len(state.shard.pieces), named)


def resolve(plan: Plan, workspace: Workspace, *, quarantine: bool = False) -> Resolution:
    """Ask the workspace for the results of a plan; reads listings and receipts, no data.

    A big compressed file has a state for each of its parts where these are known, else one.

    Args:
        plan: shards and steps.
        workspace: holds the results.
        quarantine: whether results count from which rows were set aside.
    """
    chain = Chain.of(plan.steps, plan.steps_before)
    states: list[ShardState] = []
    known_parts = find_parts(plan.shards, workspace)
    for shard, position, parts in zip(plan.shards, plan.positions, known_parts, strict=True):
        state = ShardState(shard, position)
        if parts is not None:
            states += [state.of_part(chain, part) for part in parts]
            continue
        identity = shard.identity(workspace.index.content) if state.is_cut else None
        states.append(state if identity is None else state.identified(chain, identity))
    keys = [key for state in states for key in state.keys or ()]
    receipts = find_results(workspace.store, keys, quarantine=quarantine)
    return Resolution(chain, tuple(state.found(chain, receipts) for state in states))


def find_results(store: Store, keys: Iterable[str], *, quarantine: bool) -> dict[str, Receipt]:
    """The results of some keys that a run may use.

    Args:
        store: where they are.
        keys: of results.
        quarantine: whether those count from which rows were set aside.
    """
    found = store.find(keys)
    lacking = [key for key, receipt in found.items() if receipt.quarantined]
    records = store.find(map(quarantine_key, lacking)) if lacking and quarantine else {}
    for key in lacking:
        if quarantine_key(key) not in records:
            del found[key]
    return found


def quarantine_key(key: str) -> str:
    """The key of the records of the rows that were set aside from a result."""
    return combine("quarantine", key)


def _prefix(chain: Chain, keys: tuple[str, ...], receipts: dict[str, Receipt]) -> tuple[int, Receipt] | None:
    """The latest kept result before the last, which saves most work."""
    before_last = reversed(list(zip(chain.kept, keys, strict=True))[:-1])
    return next(((count, receipts[key]) for count, key in before_last if key in receipts), None)
