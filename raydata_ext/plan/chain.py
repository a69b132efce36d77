"""A chain of steps, ready to run: what runs on which workers, where results are kept, and the key of each of them.

Where the workers change, the result up to there is kept, as at a cache mark. The key of the last result is the same
with and without any of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from raydata_ext.errors import PlanError
from raydata_ext.fingerprint import Fingerprint, combine
from raydata_ext.plan.steps import Cache, Filter, Map, Step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from raydata_ext.plan.input_shard import InputShard
    from raydata_ext.plan.workers import Workers

KEY_REVISION = 3
"""Raised when the engine begins to give other bytes for the same steps."""


@dataclass(frozen=True)
class Position:
    """Where a shard stands in its data set; part of a key only where a step sees it.

    Attributes:
        index: number of the shard.
        first_row: global number of its first row; None where it is not known.
    """

    index: int
    first_row: int | None


@dataclass(frozen=True)
class StepGroup:
    """Neighbouring steps that run on the same workers.

    Attributes:
        stop: how many steps of the chain are done after them.
        workers: what they run on; None is the workers of the run.
    """

    stop: int
    workers: Workers | None


@dataclass(frozen=True, eq=False)
class Chain:
    """Steps that a shard passes, those of a group in one go.

    Attributes:
        steps: the steps, without cache marks.
        kept: after how many steps a result is kept, ascending; the last is all of them.
        steps_before: how many steps were done before the first.
    """

    steps: tuple[Step, ...]
    kept: tuple[int, ...]
    steps_before: int = 0

    @classmethod
    def of(cls, steps: Sequence[Step], steps_before: int = 0) -> Chain:
        """Take the cache marks out of a list of steps, and see where its workers change."""
        real: list[Step] = []
        marks: set[int] = set()
        for step in steps:
            if isinstance(step, Cache):
                marks.add(len(real))
            else:
                real.append(step)
        stops = {group.stop for group in _grouped(real)}
        return cls(tuple(real), tuple(sorted(marks | stops)), steps_before)

    @cached_property
    def groups(self) -> tuple[StepGroup, ...]:
        """The steps by the workers that they run on; one group at least."""
        return _grouped(self.steps)

    @cached_property
    def fingerprints(self) -> tuple[Fingerprint, ...]:
        """The fingerprint of each step."""
        return tuple(step.fingerprint for step in self.steps)

    @property
    def parts(self) -> Mapping[str, Mapping[str, str]]:
        """What the fingerprints are made of, by step, for explanations."""
        prints = enumerate(self.fingerprints)
        return {self.label(number): dict(print_.parts) for number, print_ in prints}

    def label(self, number: int) -> str:
        """Number and name of a step, as messages give them; `number` counts from 0."""
        return f"step {self.steps_before + number + 1} `{self.steps[number].label}`"

    def keys(self, shard: InputShard, identity: str, position: Position) -> tuple[str, ...]:
        """The key of each kept result of a shard, in the order of `kept`."""
        return tuple(self._key(shard, identity, position, count) for count in self.kept)

    def _key(self, shard: InputShard, identity: str, position: Position, count: int) -> str:
        steps = self.steps[:count]
        seen: list[str | int] = []
        if any(step.needs_positions for step in steps):
            if position.first_row is None:
                raise PlanError(f"{shard.label}: the row numbers that a step asks for are not known")
            seen += ["first_row", position.first_row]
        if any(step.needs_rank for step in steps):
            seen += ["rank", position.index]
        return combine("shard", KEY_REVISION, shard.digest, identity, self._digests[count], *seen)

    @cached_property
    def _digests(self) -> tuple[str, ...]:
        """A hash of the first 0, 1, 2, ... steps."""
        digests = [item.digest for item in self.fingerprints]
        return tuple(combine("steps", *digests[:count]) for count in range(len(digests) + 1))


def _grouped(steps: Sequence[Step]) -> tuple[StepGroup, ...]:
    """Cut a chain where the workers change.

    Steps that call no function cost little: they go with the steps before them, or, at the begin, with those after.
    """
    calling = [(number, step.workers) for number, step in enumerate(steps) if isinstance(step, Map | Filter)]
    workers = calling[0][1] if calling else None
    groups: list[StepGroup] = []
    for number, wanted in calling:
        if wanted != workers:
            groups.append(StepGroup(number, workers))
            workers = wanted
    return (*groups, StepGroup(len(steps), workers))
